import { type Node, parseDocument } from 'yaml';
import type { Finding, FindingLocation, Fix } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { createLineIndex, type LineIndex } from './line-index.ts';
import { findLookAlikes } from './look-alikes.ts';
import { parserFindings } from './parser-findings.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError } from './syntax-error.ts';
import { findTextError } from './text-error.ts';
import { commentsOf, type YamlComment } from './yaml-tokens.ts';
import { editOf, offsetsAt } from './yaml-tree.ts';
import { MAX_DEPTH, readValues, type YamlValue } from './yaml-values.ts';

/** A parsed manifest: plain values and their positions. */
export interface Document extends Locator {
  readonly value: YamlValue;
  readonly text: string;
  /** The documents of the included files, in order. */
  readonly included: readonly Document[];
  fileOf(where: FindingLocation): string;
  /** Returns the comments, in order. */
  comments(): readonly YamlComment[];
}

/** Parses YAML 1.2 (core schema) into plain values. Never throws, even for invalid text. */
export function parse(source: Source): { document: Document; findings: Finding[] } {
  const { text } = source;
  const lines = createLineIndex(text);
  const unreadable = findSizeError(text) ?? findTextError(text);
  const { root, findings } = unreadable === undefined ? parseTree(text) : { root: null, findings: [unreadable] };
  if (findings.length > 0) return { document: createDocument(source, lines, root), findings };
  const { value, anchors } = readValues(root, findings);
  return { document: createDocument(source, lines, root, value, anchors), findings };
}

function findSizeError(text: string): Finding | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_FILE_BYTES) return undefined;
  return syntaxError(0, 0, `the manifest has ${bytes} bytes; at most ${MAX_FILE_BYTES} are read`);
}

const PARSER_OPTIONS = {
  prettyErrors: false,
  version: '1.2',
  // The parser would compare every pair of keys; `readValues` finds duplicates in linear time.
  uniqueKeys: false,
  merge: false,
} as const;

function parseTree(text: string): { root: Node | null; findings: Finding[] } {
  try {
    const { contents: root, errors, warnings } = parseDocument(text, PARSER_OPTIONS);
    const findings = parserFindings({ errors, warnings, text, root });
    return { root, findings: findings.length > 0 ? findings : findLookAlikes(text) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `the manifest is nested too deeply; at most ${MAX_DEPTH} levels are read`;
    return { root: null, findings: [syntaxError(0, 0, message)] };
  }
}

function createDocument(
  source: Source,
  lines: LineIndex,
  root: Node | null,
  value: YamlValue = null,
  anchors: Map<string, Node> = new Map(),
): Document {
  const locate = (where: FindingLocation) => {
    const { start, end } = 'path' in where ? offsetsAt(root, where, anchors) : where;
    return lines.rangeOf(start, end);
  };
  const edit = (fix: Fix) => editOf(fix, source.text, root);
  const { text, path: file } = source;
  return { value, text, file, included: [], locate, fileOf: () => file, edit, comments: () => commentsOf(text) };
}
