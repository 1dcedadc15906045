import { parseJson } from '../../json-pointer.ts';
import type { YamlValue } from '../yaml-values.ts';

const COMMENT = /(?<=[ \n]|^)#[^\n]*/y;
const LINE_BREAK = /\r?\n|$/y;
/** A line break, a comment, or the end of the text. */
export const LINE_END = /[\r\n#]|$/y;

/** A position in YAML text, and the line that it is on. */
export class Cursor {
  readonly text: string;
  at = 0;
  lineStart = 0;
  /** The column of the first character of the line with content; -1 after the last line. */
  column = 0;
  flowDepth = 0;
  /** The offsets of the comments. */
  readonly comments: number[] = [];

  constructor(text: string) {
    this.text = text;
    this.nextContent();
  }

  /** The code unit at the cursor, as a text; `undefined` at the end. */
  get character(): string | undefined {
    return this.text[this.at];
  }

  /** True if a sticky pattern matches at the cursor. */
  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  /** Moves behind the match of a sticky pattern. Returns false if there is none. */
  skip(pattern: RegExp): boolean {
    const isSeen = this.sees(pattern);
    if (isSeen) this.at = pattern.lastIndex;
    return isSeen;
  }

  skipSpaces(): void {
    while (this.text[this.at] === ' ') this.at += 1;
  }

  /** Skips the rest of a line, which may be a comment, and the lines below it that are empty or comments. */
  endLine(): void {
    if (!this.#skipLine()) throw new NotSimple();
    this.nextContent();
  }

  /** Moves to the first line with content, from the start of a line on. */
  nextContent(): void {
    do {
      this.lineStart = this.at;
      this.column = -1;
      if (this.character === undefined) return;
      // The YAML parser refuses some of these comments inside brackets.
      if (this.character === '#' && this.flowDepth > 0) throw new NotSimple();
    } while (this.#skipLine());
    this.column = this.at - this.lineStart;
  }

  /** Skips spaces, a comment and a line break. Returns false if something else comes first. */
  #skipLine(): boolean {
    this.skipSpaces();
    const { at } = this;
    if (this.skip(COMMENT)) this.comments.push(at);
    return this.skip(LINE_BREAK);
  }
}

/** Thrown for text outside of the simple part of YAML. */
export class NotSimple extends Error {}

/** The start of a value without quotes. "---" and "..." may also separate documents. */
const PLAIN_START = /(?!(?:---|\.\.\.)(?:[ \r\n]|$))(?:[^ \r\n?:,[\]{}#&*!|>'"%@`-]|-(?![ \r\n,[\]{}]|$))/y;
const PLAIN_END = /(?=[\r\n]| #|:(?:[ \r\n]|$))|$/g;
const PLAIN_END_IN_FLOW = /(?=[\r\n,[\]{}]| #|:(?:[ \r\n,[\]{}]|$))|$/g;

/** Returns the end of the scalar at the cursor, which is on one line. */
export function scalarEnd({ text, at, flowDepth }: Cursor): number {
  PLAIN_START.lastIndex = at;
  return PLAIN_START.test(text) ? plainEnd(text, at, flowDepth > 0) : quotedEnd(text, at);
}

export function isQuoted(text: string, start: number): boolean {
  return text[start] === '"' || text[start] === "'";
}

/** Returns the end of a scalar without quotes. */
function plainEnd(text: string, start: number, isInFlow: boolean): number {
  const pattern = isInFlow ? PLAIN_END_IN_FLOW : PLAIN_END;
  pattern.lastIndex = start;
  pattern.test(text);
  let end = pattern.lastIndex;
  while (text[end - 1] === ' ' && end > start) end -= 1;
  return end;
}

function quotedEnd(text: string, start: number): number {
  if (!isQuoted(text, start)) throw new NotSimple();
  const quote = text[start];
  const pattern = quote === '"' ? /\\[^\n]|["\n]/g : /''|['\n]/g;
  pattern.lastIndex = start + 1;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match[0] === quote) return pattern.lastIndex;
    if (match[0] === '\n') break;
  }
  throw new NotSimple();
}

export function scalarValue(source: string): YamlValue {
  if (!isQuoted(source, 0)) return plainValue(source);
  // The escapes of JSON have the same meaning in YAML, which has others too.
  if (source.startsWith('"') && source.includes('\\')) return parseEscapes(source);
  const inner = source.slice(1, -1);
  return source.startsWith('"') ? inner : inner.replaceAll("''", "'");
}

function parseEscapes(source: string): string {
  const text = parseJson(source);
  if (typeof text !== 'string') throw new NotSimple();
  return text;
}

// The core schema of YAML 1.2 (section 10.3.2): the types of values without quotes.

const NULL = /^(?:~|null|Null|NULL)$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
const NUMBER = /^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;

function plainValue(source: string): YamlValue {
  if (NULL.test(source)) return null;
  if (TRUE.test(source)) return true;
  if (FALSE.test(source)) return false;
  if (!NUMBER.test(source) && !NOT_FINITE.test(source)) return source;
  const value = Number(source);
  if (!Number.isFinite(value)) throw new NotSimple();
  return value;
}
