import type { Finding, FindingLocation, Fix } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { readJsonValues } from './json-values.ts';
import { createLineIndex } from './line-index.ts';
import { findLookAlikes } from './look-alikes.ts';
import { parseTree } from './parse-tree.ts';
import { createPositionTree, type PositionTree } from './position-tree.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError } from './syntax-error.ts';
import { findTextError } from './text-error.ts';
import { commentsOf, type YamlComment } from './yaml-tokens.ts';
import { readValues, type YamlValue } from './yaml-values.ts';

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
  const unreadable = findSizeError(text) ?? findTextError(text);
  if (unreadable !== undefined)
    return { document: createDocument(source, null, createPositionTree(text, null)), findings: [unreadable] };
  const json = readJsonValues(text);
  if (json !== undefined) return { document: createDocument(source, json, createLazyTree(text)), findings: [] };
  const { root, findings: syntaxErrors } = parseTree(text);
  const findings = syntaxErrors.length === 0 ? findLookAlikes(text) : syntaxErrors;
  const { value, anchors } = findings.length > 0 ? { value: null } : readValues(root, findings);
  return { document: createDocument(source, value, createPositionTree(text, root, anchors)), findings };
}

function findSizeError(text: string): Finding | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_FILE_BYTES) return undefined;
  return syntaxError(0, 0, `the manifest has ${bytes} bytes; at most ${MAX_FILE_BYTES} are read`);
}

/** Parses the text when a position is first needed. */
function createLazyTree(text: string): PositionTree {
  let tree: PositionTree | undefined;
  const parsed = () => {
    tree ??= createPositionTree(text, parseTree(text).root);
    return tree;
  };
  return { offsetsAt: (where) => parsed().offsetsAt(where), editOf: (fix) => parsed().editOf(fix) };
}

function createDocument(source: Source, value: YamlValue, tree: PositionTree): Document {
  const { text, path: file } = source;
  const lines = createLineIndex(text);
  const locate = (where: FindingLocation) => {
    const { start, end } = 'path' in where ? tree.offsetsAt(where) : where;
    return lines.rangeOf(start, end);
  };
  return {
    value,
    text,
    file,
    included: [],
    locate,
    fileOf: () => file,
    edit: (fix: Fix) => tree.editOf(fix),
    comments: () => commentsOf(text),
  };
}
