import { hasLookAlike } from '../look-alikes.ts';
import type { YamlValue } from '../yaml-values.ts';
import { BACKSLASH, COLON, CR, DASH, DOUBLE_QUOTE, HASH, isQuote, LF, SPACE } from './characters.ts';
import { plainValue } from './core-schema.ts';
import type { Cursor } from './cursor.ts';
import { NotSimple } from './not-simple.ts';

/** The characters that do not begin a value without quotes, or not always. */
const RESERVED = asciiTable('-?:,[]{}#&*!|>\'"%@`');
const FLOW_INDICATORS = asciiTable(',[]{}');

function asciiTable(characters: string): readonly boolean[] {
  return Array.from({ length: 0x80 }, (_, code) => characters.includes(String.fromCharCode(code)));
}

/** Returns the end of the scalar on one line, with or without quotes, that begins at an offset. */
export function scalarEnd(cursor: Cursor, start: number, isInFlow: boolean): number {
  const code = cursor.codeAt(start);
  return isQuote(code) ? quotedEnd(cursor, start) : plainEnd(cursor, start, isInFlow);
}

function plainEnd(cursor: Cursor, start: number, isInFlow: boolean): number {
  const { text } = cursor;
  if (!beginsPlain(cursor, start)) throw new NotSimple();
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
    if (code === LF) break;
    if (code === BACKSLASH && quote === DOUBLE_QUOTE) at += 1;
    else if (code === quote) {
      const isDoubled = quote !== DOUBLE_QUOTE && text.charCodeAt(at + 1) === quote;
      if (!isDoubled) return at + 1;
      at += 1;
    }
  }
  throw new NotSimple();
}

/** Returns the value of the scalar between two offsets. */
export function scalarValue({ text }: Cursor, start: number, end: number): YamlValue {
  const code = text.charCodeAt(start);
  if (code === DOUBLE_QUOTE) return doubleQuotedValue(text, start, end);
  if (isQuote(code)) return text.slice(start + 1, end - 1).replaceAll("''", "'");
  const value = plainValue(text.slice(start, end));
  if (value === undefined) throw new NotSimple();
  return value;
}

function doubleQuotedValue(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  // The escapes of JSON have the same meaning in YAML, which has others too.
  try {
    return JSON.parse(text.slice(start, end));
  } catch {
    throw new NotSimple();
  }
}
