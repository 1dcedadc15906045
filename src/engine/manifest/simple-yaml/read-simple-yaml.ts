import { hasLookAlike } from '../look-alikes.ts';
import { type ValueKind, ValuePositions } from '../value-positions.ts';
import { MAX_DEPTH, MAX_MEMBERS, MAX_NODES, type YamlValue } from '../yaml-values.ts';
import { Cursor, isQuoted, LINE_END, NotSimple, scalarEnd, scalarValue } from './cursor.ts';

/**
 * Reads YAML text of simple forms: maps and lists, as blocks or in brackets, and scalars on one line. JSON is such text. Returns the values and positions that the YAML parser finds, in less than a tenth of its time. Returns `undefined` for any
 * other text, and for text with an error: the YAML parser reads it.
 *
 * @param text a text without an error of `findTextError`
 */
export function readSimpleYaml(text: string) {
  // The YAML parser has its own rules for tabs and byte order marks.
  if (text.includes('\t') || text.includes('\uFEFF')) return undefined;
  try {
    return new SimpleReader(text).read();
  } catch (error) {
    if (error instanceof NotSimple) return undefined;
    throw error;
  }
}

const DOCUMENT_START = /---(?=[ \r\n]|$)/y;
const DASH = /-(?=[ \r\n]|$)/y;
/** The start of a text, an anchor or an alias, or of a value in brackets. */
const NOT_KEY = /[|>&*[{]/y;
const OPENING = /[[{]/y;
const CLOSING = /[\]}]/y;
const COLON = /:(?=[ \r\n]|$)/y;
/** In brackets, the value may directly follow a key in quotes. */
const COLON_AFTER_QUOTE = /:/y;
/** The most code units between the start of a key and its colon. The YAML parser has an exception for keys in brackets. */
const MAX_KEY = 1024;

type Members = Record<string, YamlValue>;

class SimpleReader {
  readonly #cursor: Cursor;
  readonly #positions = new ValuePositions();
  #hasLookAlike = false;
  #depth = 0;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  read() {
    const cursor = this.#cursor;
    if (cursor.column === 0 && cursor.skip(DOCUMENT_START)) cursor.endLine();
    if (cursor.column !== 0) throw new NotSimple();
    const value = cursor.sees(OPENING) ? this.#readLine(0) : this.#readBlock(0);
    if (cursor.character !== undefined) throw new NotSimple();
    return {
      value,
      positions: this.#positions,
      comments: cursor.comments,
      /** True if a scalar without quotes has a character that looks like one of YAML. */
      hasLookAlike: this.#hasLookAlike,
    };
  }

  #readBlock(column: number): YamlValue {
    return this.#cursor.sees(DASH) ? this.#readBlockList(column) : this.#readBlockMap(column);
  }

  #readBlockMap(column: number): YamlValue {
    const cursor = this.#cursor;
    const row = this.#open('block map');
    const members: Members = {};
    do {
      const key = this.#readKey(members);
      members[key] = this.#readMember(column, true);
    } while (cursor.column === column && !cursor.sees(DASH));
    if (cursor.column > column) throw new NotSimple();
    return this.#close(row, members);
  }

  #readBlockList(column: number): YamlValue {
    const cursor = this.#cursor;
    const row = this.#open('block list');
    const members: YamlValue[] = [];
    do {
      cursor.at += 1;
      cursor.skipSpaces();
      const isBlock = this.#seesBlock();
      members.push(isBlock ? this.#readBlock(cursor.at - cursor.lineStart) : this.#readMember(column, false));
    } while (cursor.column === column && cursor.sees(DASH));
    if (cursor.column > column) throw new NotSimple();
    return this.#close(row, members);
  }

  /** True if the value at the cursor is a list or a map without brackets. */
  #seesBlock(): boolean {
    const cursor = this.#cursor;
    if (cursor.sees(LINE_END) || cursor.sees(NOT_KEY)) return false;
    return cursor.sees(DASH) || cursor.text[scalarEnd(cursor)] === ':';
  }

  /** Reads the value after a colon or a dash, and the rest of its line. */
  #readMember(column: number, isInMap: boolean): YamlValue {
    const cursor = this.#cursor;
    cursor.skipSpaces();
    return cursor.sees(LINE_END) ? this.#readBelow(column, isInMap) : this.#readLine(column + 1);
  }

  /** Reads a value in brackets or a scalar, and the rest of its line. */
  #readLine(indent: number): YamlValue {
    const value = this.#readFlow(indent);
    this.#cursor.endLine();
    return value;
  }

  /** Reads a block on the lines below; an empty value if there is none. */
  #readBelow(column: number, isInMap: boolean): YamlValue {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    cursor.endLine();
    if (cursor.column > column) return this.#seesBlock() ? this.#readBlock(cursor.column) : this.#readLine(column + 1);
    // A list may have the column of its key.
    if (isInMap && cursor.column === column && cursor.sees(DASH)) return this.#readBlockList(column);
    this.#positions.addScalar(start, start);
    return null;
  }

  /**
   * Reads a value in brackets or a scalar.
   *
   * @param indent the least column of the lines after the first, of a value in brackets
   */
  #readFlow(indent: number): YamlValue {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    if (!cursor.sees(OPENING)) {
      cursor.at = scalarEnd(cursor);
      this.#checkLimits();
      this.#positions.addScalar(start, cursor.at);
      return this.#valueOf(start, cursor.at);
    }
    cursor.flowDepth += 1;
    const value = cursor.character === '{' ? this.#readFlowMap(indent) : this.#readFlowList(indent);
    cursor.flowDepth -= 1;
    return value;
  }

  #readFlowMap(indent: number): YamlValue {
    const row = this.#open('flow map');
    const members: Members = {};
    for (let isFirst = true; this.#hasMember(indent, '}', isFirst); isFirst = false) {
      const key = this.#readKey(members);
      this.#skipLines(indent);
      members[key] = this.#readFlow(indent);
    }
    return this.#close(row, members);
  }

  #readFlowList(indent: number): YamlValue {
    const row = this.#open('flow list');
    const members: YamlValue[] = [];
    while (this.#hasMember(indent, ']', members.length === 0)) members.push(this.#readFlow(indent));
    return this.#close(row, members);
  }

  /** Skips the opening bracket, or the comma before a member. Returns false after the closing bracket. */
  #hasMember(indent: number, closing: string, isFirst: boolean): boolean {
    const cursor = this.#cursor;
    if (!isFirst) this.#skipLines(indent);
    if (isFirst || cursor.character === ',') {
      cursor.at += 1;
      this.#skipLines(indent);
    } else if (cursor.character !== closing) throw new NotSimple();
    if (cursor.character !== closing) return true;
    cursor.at += 1;
    return false;
  }

  /** Skips spaces, line breaks and comments. */
  #skipLines(indent: number): void {
    const cursor = this.#cursor;
    cursor.skipSpaces();
    if (!cursor.sees(LINE_END)) return;
    cursor.endLine();
    // The last bracket may have the column of its key.
    const isLast = cursor.flowDepth === 1 && cursor.sees(CLOSING);
    if (cursor.column < (isLast ? indent - 1 : indent)) throw new NotSimple();
  }

  #readKey(members: Members): string {
    const cursor = this.#cursor;
    const { at: start, text } = cursor;
    const isInFlow = cursor.flowDepth > 0;
    cursor.at = scalarEnd(cursor);
    const { at: end } = cursor;
    const key = this.#valueOf(start, end);
    if (isInFlow) cursor.skipSpaces();
    if (!cursor.skip(isInFlow && isQuoted(text, start) ? COLON_AFTER_QUOTE : COLON)) throw new NotSimple();
    if (!isInFlow && end - start > MAX_KEY) throw new NotSimple();
    if (typeof key !== 'string' || key === '<<' || key === '__proto__' || Object.hasOwn(members, key))
      throw new NotSimple();
    this.#positions.setKey(key, start, end);
    return key;
  }

  #valueOf(start: number, end: number): YamlValue {
    const source = this.#cursor.text.slice(start, end);
    this.#hasLookAlike ||= !isQuoted(source, 0) && hasLookAlike(source);
    return scalarValue(source);
  }

  /** Adds the collection at the cursor to the positions. Its members follow, then `#close` is called. */
  #open(kind: ValueKind): number {
    this.#checkLimits();
    this.#depth += 1;
    return this.#positions.open(kind, this.#cursor.at);
  }

  #close(row: number, members: YamlValue): YamlValue {
    const { length } = Array.isArray(members) ? members : Object.keys(members as Members);
    if (length > MAX_MEMBERS) throw new NotSimple();
    this.#depth -= 1;
    this.#positions.close(row, this.#cursor.at);
    return members;
  }

  #checkLimits(): void {
    if (this.#depth > MAX_DEPTH || this.#positions.count + 1 >= MAX_NODES) throw new NotSimple();
  }
}
