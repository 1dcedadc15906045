import { hasLookAlike } from '../look-alikes.ts';
import type { YamlValue } from '../yaml-values.ts';
import { BACKSLASH, COLON, CR, DASH, DOUBLE_QUOTE, HASH, isQuote, LF, SPACE } from './characters.ts';
import { plainValue } from './core-schema.ts';
import { type Cursor, NotSimple } from './cursor.ts';

/** The characters that do not begin a value without quotes, or not always. */
const RESERVED = asciiTable('-?:,[]{}#&*!|>\'"%@`');
const FLOW_INDICATORS = asciiTable(',[]{}');

function asciiTable(characters: string): readonly boolean[] {
  return Array.from({ length: 0x80 }, (_, code) => characters.includes(String.fromCharCode(code)));
}

/** Returns the end of the key that may begin at an offset: a scalar on one line, with or without quotes. */
export function keyEnd(cursor: Cursor, start: number): number {
  if (!isQuote(cursor.codeAt(start))) return plainEnd(cursor, start);
  const end = quotedEnd(cursor, start);
  // A search for the end of the line would read all of a JSON text on one line, for each key.
  return cursor.text.slice(start, end).includes('\n') ? cursor.lineEnd(start) : end;
}

/**
 * Returns the end of the scalar that begins at an offset.
 *
 * @param indent the least column of its lines after the first
 */
export function scalarEnd(cursor: Cursor, start: number, indent: number): number {
  if (isQuote(cursor.codeAt(start))) return quotedEnd(cursor, start);
  let end = plainEnd(cursor, start);
  for (let next = nextLine(cursor, end, indent); next !== -1; next = nextLine(cursor, end, indent)) {
    const lineEnd = plainLineEnd(cursor, next);
    if (lineEnd === next) break;
    end = lineEnd;
  }
  return end;
}

/** Returns the start of the line that continues a scalar without quotes; -1 if none does. */
function nextLine(cursor: Cursor, end: number, indent: number): number {
  for (let at = cursor.spacesEnd(end); cursor.isLineEndAt(at); ) {
    const lineStart = cursor.lineEnd(at) + 1;
    at = cursor.spacesEnd(lineStart);
    if (!cursor.isLineEndAt(at)) return at - lineStart >= indent && indent > 0 && cursor.codeAt(at) !== HASH ? at : -1;
  }
  return -1;
}

function plainEnd(cursor: Cursor, start: number): number {
  if (!beginsPlain(cursor, start)) throw new NotSimple();
  return plainLineEnd(cursor, start);
}

/** Returns the end of a scalar without quotes, or of one of its lines. */
function plainLineEnd(cursor: Cursor, start: number): number {
  const { text } = cursor;
  const isInFlow = cursor.flowDepth > 0;
  let end = start;
  let bits = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    bits |= code;
    if (code === LF || code === CR || (isInFlow && FLOW_INDICATORS[code] === true)) break;
    if (code === SPACE) {
      if (cursor.codeAt(at + 1) === HASH) break;
      continue;
    }
    if (code === COLON && endsKey(cursor, at + 1, isInFlow)) break;
    end = at + 1;
  }
  // No ASCII character is a look-alike.
  if (bits >= 0x80) cursor.hasLookAlike ||= hasLookAlike(text.slice(start, end));
  return end;
}

function beginsPlain(cursor: Cursor, start: number): boolean {
  const code = cursor.codeAt(start);
  if (code === DASH) return !cursor.isBlankAt(start + 1) && FLOW_INDICATORS[cursor.codeAt(start + 1)] !== true;
  return code !== -1 && RESERVED[code] !== true;
}

function endsKey(cursor: Cursor, afterColon: number, isInFlow: boolean): boolean {
  return cursor.isBlankAt(afterColon) || (isInFlow && FLOW_INDICATORS[cursor.codeAt(afterColon)] === true);
}

function quotedEnd({ text }: Cursor, start: number): number {
  const quote = text.charCodeAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH && quote === DOUBLE_QUOTE) at += 1;
    else if (code === quote) {
      const isDoubled = quote !== DOUBLE_QUOTE && text.charCodeAt(at + 1) === quote;
      if (!isDoubled) return at + 1;
      at += 1;
    }
  }
  throw new NotSimple();
}

/**
 * Returns the value of the scalar between two offsets.
 *
 * @param indent as for `scalarEnd`
 */
export function scalarValue({ text }: Cursor, start: number, end: number, indent: number): YamlValue {
  const source = text.slice(start, end);
  const isQuoted = isQuote(text.charCodeAt(start));
  const isLong = source.includes('\n');
  if (isQuoted) {
    if (isLong && !areIndented(source, indent)) throw new NotSimple();
    return source.startsWith('"') ? doubleQuotedValue(source, isLong) : singleQuotedValue(source, isLong);
  }
  const value = plainValue(isLong ? foldLines(source) : source);
  if (value === undefined) throw new NotSimple();
  return value;
}

/** True if the lines after the first are empty, or indented as required. */
function areIndented(source: string, indent: number): boolean {
  if (indent === 0) return false;
  const lines = source.split('\n').slice(1);
  return lines.every((line) => line.search(/[^ \r]/) === -1 || line.search(/[^ ]/) >= indent);
}

function doubleQuotedValue(source: string, isLong: boolean): string {
  const inner = source.slice(1, -1);
  if (!inner.includes('\\')) return isLong ? foldLines(inner) : inner;
  // The escapes of JSON have the same meaning in YAML, which has others too.
  try {
    return JSON.parse(source);
  } catch {
    throw new NotSimple();
  }
}

function singleQuotedValue(source: string, isLong: boolean): string {
  const inner = source.slice(1, -1);
  return (isLong ? foldLines(inner) : inner).replaceAll("''", "'");
}

/** Joins the lines of a scalar with spaces. An empty line is a line break. */
function foldLines(source: string): string {
  const lines = source.split('\n');
  const last = lines.length - 1;
  let folded = trimEnd(lines[0] ?? '');
  let separator = ' ';
  for (let index = 1; index <= last; index += 1) {
    const content = trimStart(lines[index] ?? '');
    const line = index === last ? content : trimEnd(content);
    if (line !== '' || index === last) {
      folded += separator + line;
      separator = ' ';
    } else if (separator === ' ') separator = '\n';
    else folded += '\n';
  }
  return folded;
}

// `trim` of JavaScript would remove other white space too, which belongs to the text.

function trimStart(line: string): string {
  const start = line.search(/[^ ]/);
  return start === -1 ? '' : line.slice(start);
}

/** Removes the spaces at the end of a line, and the carriage return of its line break. */
function trimEnd(line: string): string {
  let end = line.endsWith('\r') ? line.length - 1 : line.length;
  while (line.charCodeAt(end - 1) === SPACE) end -= 1;
  return line.slice(0, end);
}
