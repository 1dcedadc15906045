import type { Finding, FindingLocation, Fix } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { createLineIndex } from './line-index.ts';
import { findLookAlikes } from './look-alikes.ts';
import { parseTree } from './parse-tree.ts';
import { editOf } from './scalar-edits.ts';
import { readSimpleYaml } from './simple-yaml/read-simple-yaml.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError } from './syntax-error.ts';
import { findTextError } from './text-error.ts';
import { ValuePositions } from './value-positions.ts';
import { commentAt, commentsOf, type YamlComment } from './yaml-tokens.ts';
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
export function parse(source: Source, maxBytes?: number): { document: Document; findings: Finding[] } {
  const read = parseText(source.text, maxBytes);
  return { document: createDocument(source, read), findings: read.findings };
}

/** Parses YAML as `parse` does, with the offsets of each value. */
export function parseText(text: string, maxBytes = MAX_FILE_BYTES): ParsedText {
  const unreadable = findSizeError(text, maxBytes) ?? findTextError(text);
  if (unreadable !== undefined) return { ...NO_VALUES, findings: [unreadable] };
  return readSimpleText(text) ?? readTree(text);
}

export interface ParsedText {
  /** `null` after a syntax error. */
  readonly value: YamlValue;
  readonly positions: ValuePositions;
  readonly comments: () => readonly YamlComment[];
  readonly findings: Finding[];
}

const NO_VALUES: ParsedText = { value: null, positions: new ValuePositions(), comments: () => [], findings: [] };

function readSimpleText(text: string): ParsedText | undefined {
  const simple = readSimpleYaml(text);
  if (simple === undefined) return undefined;
  const { positions, hasLookAlike } = simple;
  const findings = hasLookAlike ? findLookAlikes(text) : [];
  const comments = () => simple.comments.map((start) => commentAt(text, start));
  return { value: findings.length > 0 ? null : simple.value, positions, comments, findings };
}

function readTree(text: string): ParsedText {
  const { root, findings: syntaxErrors } = parseTree(text);
  const findings = syntaxErrors.length === 0 ? findLookAlikes(text) : syntaxErrors;
  const comments = () => commentsOf(text);
  // After a syntax error, the values are a guess.
  if (findings.length > 0) return { value: null, positions: readValues(root, []).positions, comments, findings };
  const { value, positions } = readValues(root, findings);
  return { value, positions, comments, findings };
}

function findSizeError(text: string, maxBytes: number): Finding | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return undefined;
  return syntaxError(0, 0, `the manifest has ${bytes} bytes; at most ${maxBytes} are read`);
}

function createDocument(source: Source, { value, positions, comments }: ParsedText): Document {
  const { text, path: file } = source;
  const lines = createLineIndex(text);
  const locate = (where: FindingLocation) => {
    const { start, end } = 'path' in where ? positions.offsetsAt(where) : where;
    return lines.rangeOf(start, end);
  };
  return {
    value,
    text,
    file,
    included: [],
    locate,
    fileOf: () => file,
    edit: (fix: Fix) => editOf(fix, { text, value, positions }),
    comments,
  };
}

/** Parses a text. A caller may pass a parser with a cache. */
export type DocumentParser = typeof parse;
