import type { Finding, FindingLocation, Range } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { findLookAlikes } from './look-alikes.ts';
import { parseTree } from './parse-tree.ts';
import { readSimpleYaml } from './simple-yaml/read-simple-yaml.ts';
import { invalidByteOf, MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError } from './syntax-error.ts';
import { ValuePositions } from './value-positions.ts';
import { commentAt, commentsOf, editOf, type YamlComment } from './yaml-text.ts';
import { readValues, type YamlValue } from './yaml-values.ts';

/** A parsed manifest: plain values and their positions. */
export interface Document extends Locator {
  readonly value: YamlValue;
  readonly text: string;
  /** The documents of the included files, in order. */
  readonly included: readonly Document[];
  fileOf(where: FindingLocation): string;
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

/**
 * Creates a function that converts offsets in a text to lines and columns. As in editors, a byte order mark does not count as a
 * column.
 */
function createRanges(text: string): (start: number, end: number) => Range {
  const starts = lineStarts(text);
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

/** Returns the offset of the first character of each line. */
export function lineStarts(text: string): number[] {
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/** Returns the index of the last of the ascending numbers that is at most `most`, or 0. */
export function lastIndexAtMost(numbers: readonly number[], most: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The parser would accept these texts, or read them in another way than an editor shows them.

/**
 * The start of a file that is not UTF-8 text, as `decodeText` returns it, or as a decoder returns it that writes U+FFFD for
 * invalid bytes. The first matching row applies.
 */
const FORMATS: readonly (readonly [start: RegExp, message: string])[] = [
  [
    /^(?:\uDCFF\uDCFE|\uFFFD\uFFFD|[\t-~]\0)\0\0|^\0\0(?:\uDCFE\uDCFF|\uFFFD\uFFFD|\0[\t-~])/,
    encodingMessage('UTF-32'),
  ],
  [/^(?:\uDCFF\uDCFE|\uDCFE\uDCFF|\uFFFD\uFFFD[^\0]?\0|(?:[\t-~]\0){2}|(?:\0[\t-~]){2})/, encodingMessage('UTF-16')],
  [/^\x1F[\uDC8B\uFFFD]/, compressionMessage('gzip')],
  [/^PK\x03\x04/, compressionMessage('zip')],
  [/^\(\uDCB5\/[\uDCFD\uFFFD]|^\(\uFFFD\/\uFFFD/, compressionMessage('zstd')],
  [/^[\uDCFD\uFFFD]7zXZ\0/, compressionMessage('xz')],
  [/^BZh[1-9]1AY&SY/, compressionMessage('bzip2')],
];

/**
 * A character that YAML 1.2 excludes (section 5.1): a control character, half of a surrogate pair, or a noncharacter. Also a
 * carriage return without a line feed, which is a line break in YAML, but not in most editors.
 */
const EXCLUDED =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F\uFFFE\uFFFF]|\r(?!\n)|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The lines that git writes around the sides of a conflict. */
const CONFLICT = /^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|$)/m;

/** Returns the error of a text that is not read as YAML at all; otherwise `undefined`. */
export function findTextError(text: string): Finding | undefined {
  const format = FORMATS.find(([start]) => start.test(text));
  if (format !== undefined) return syntaxError(0, 1, format[1]);
  const binary = text.indexOf('\0');
  if (binary >= 0) return syntaxError(binary, binary + 1, BINARY);
  const excluded = EXCLUDED.exec(text);
  if (excluded !== null) return syntaxError(excluded.index, excluded.index + 1, excludedMessage(excluded[0]));
  const conflict = CONFLICT.exec(text);
  if (conflict === null) return undefined;
  const message = 'the file has a merge conflict here; resolve it, and remove the lines that git added';
  return syntaxError(conflict.index, conflict.index + conflict[0].length, message);
}

const BINARY = 'the file has a NUL byte here, so it is not text; remove the byte, or name another file';

function excludedMessage(character: string): string {
  const byte = invalidByteOf(character);
  if (byte !== undefined) return `the byte 0x${hex(byte, 2)} is not UTF-8 here; save the file as UTF-8`;
  if (character === '\r') return 'a carriage return alone does not end a line; save the file with LF or CRLF line ends';
  const code = `U+${hex(character.charCodeAt(0), 4)}`;
  if (!character.isWellFormed()) return `${code} is half of a character; save the file as UTF-8`;
  return `YAML has no control characters, and this is ${code}; remove it, or write it as an escape in double quotes`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
}

function encodingMessage(encoding: string): string {
  return `the file is ${encoding}; save it as UTF-8`;
}

function compressionMessage(format: string): string {
  return `the file is compressed with ${format}; decompress it, or name another file`;
}
