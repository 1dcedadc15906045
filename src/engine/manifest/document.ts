import type { Finding, FindingLocation, Range } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { findLookAlikes } from './look-alikes.ts';
import { parseTree } from './parse-tree.ts';
import { readSimpleYaml } from './simple-yaml/read-simple-yaml.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError } from './syntax-error.ts';
import { findTextError } from './text-error.ts';
import { ValuePositions } from './value-positions.ts';
import { editOf } from './write-yaml.ts';
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
  const rangeOf = createRanges(text);
  const locate = (where: FindingLocation) => {
    const { start, end } = 'path' in where ? positions.offsetsAt(where) : where;
    return rangeOf(start, end);
  };
  return {
    value,
    text,
    file,
    included: [],
    locate,
    fileOf: () => file,
    edit: (fix) => editOf(fix, { text, value, positions }),
    comments,
  };
}

/** Parses a text. A caller may pass a parser with a cache. */
export type DocumentParser = typeof parse;

/**
 * Creates a function that converts offsets in a text to lines and columns. As in editors, a byte order mark does not count as a
 * column.
 */
function createRanges(text: string): (start: number, end: number) => Range {
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  // The parser may report an offset after the end of the text.
  const positionOf = (offset: number) => {
    const bounded = Math.min(offset, text.length);
    const index = lastIndexAtMost(starts, bounded);
    return { line: index + 1, column: Math.max(1, bounded - (starts[index] ?? 0) + 1) };
  };
  return (start, end) => {
    const from = positionOf(start);
    const to = positionOf(Math.max(start, end));
    return { ...from, endLine: to.line, endColumn: to.column };
  };
}

/** Returns the index of the last of the ascending numbers that is at most `most`, or 0. */
function lastIndexAtMost(numbers: readonly number[], most: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
