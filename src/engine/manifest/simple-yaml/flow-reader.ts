import { FLOW_LIST, FLOW_MAP, SCALAR, type ValueKind, type ValuePositions } from '../value-positions.ts';
import { MAX_DEPTH, MAX_MEMBERS, MAX_NODES, type YamlValue } from '../yaml-values.ts';
import {
  COLON,
  COMMA,
  CR,
  HASH,
  isClosingBracket,
  isOpeningBracket,
  isQuote,
  LF,
  LIST_END,
  MAP_END,
  MAP_START,
} from './characters.ts';
import { type Cursor, NotSimple } from './cursor.ts';
import { keyEnd, scalarEnd, scalarValue } from './scalar-text.ts';

export type Members = Record<string, YamlValue>;

/** The most code units between the start of a key and its colon. The YAML parser has an exception for keys in brackets. */
const MAX_KEY = 1024;

/** Reads keys, scalars, and values in brackets. */
export class FlowReader {
  readonly #cursor: Cursor;
  readonly #positions: ValuePositions;
  #depth = 0;
  /** The number of values behind aliases. */
  #copies = 0;

  constructor(cursor: Cursor, positions: ValuePositions) {
    this.#cursor = cursor;
    this.#positions = positions;
  }

  /** Adds the collection at the cursor to the positions. Its members follow, then `close` is called. */
  open(kind: ValueKind): number {
    this.#checkLimits();
    this.#depth += 1;
    return this.#positions.open(kind, this.#cursor.at);
  }

  /** Ends a collection at the cursor. */
  close(row: number, memberCount: number): void {
    if (memberCount > MAX_MEMBERS) throw new NotSimple();
    this.#depth -= 1;
    this.#positions.close(row, this.#cursor.at);
  }

  /** Returns the row of the scalar in the positions. */
  addScalar(start: number, end: number): number {
    this.#checkLimits();
    return this.#positions.add(SCALAR, start, end);
  }

  /** Copies the value of an anchor for an alias, so that defaults may be added to one of them. */
  copy(value: YamlValue): YamlValue {
    this.#copies += 1;
    this.#checkLimits();
    if (value === null || typeof value !== 'object') return value;
    this.#depth += 1;
    const copied = Array.isArray(value)
      ? value.map((member) => this.copy(member))
      : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.copy(member)]));
    this.#depth -= 1;
    return copied;
  }

  #checkLimits(): void {
    const count = this.#positions.count + this.#copies + 1;
    if (this.#depth > MAX_DEPTH || count >= MAX_NODES) throw new NotSimple();
  }

  /** Reads a key and its colon. */
  readKey(members: Members): string {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    const isInFlow = cursor.flowDepth > 0;
    const end = keyEnd(cursor, start);
    const key = scalarValue(cursor, start, end, 0);
    const colon = isInFlow ? cursor.spacesEnd(end) : end;
    if (cursor.codeAt(colon) !== COLON || (!isInFlow && colon - start > MAX_KEY)) throw new NotSimple();
    // In brackets, the value may directly follow a key in quotes.
    if (!cursor.isBlankAt(colon + 1) && !(isInFlow && isQuote(cursor.code))) throw new NotSimple();
    if (typeof key !== 'string' || key === '<<' || key === '__proto__' || Object.hasOwn(members, key))
      throw new NotSimple();
    this.#positions.setKey(key, start, end);
    cursor.at = colon + 1;
    return key;
  }

  readScalar(indent: number): YamlValue {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    cursor.at = scalarEnd(cursor, start, indent);
    this.addScalar(start, cursor.at);
    return scalarValue(cursor, start, cursor.at, indent);
  }

  /**
   * Reads the value at the cursor, in brackets or a scalar.
   *
   * @param indent the least column of the lines after the first
   */
  readFlow(indent: number): YamlValue {
    const cursor = this.#cursor;
    const { code } = cursor;
    if (!isOpeningBracket(code)) return this.readScalar(indent);
    cursor.flowDepth += 1;
    const value = code === MAP_START ? this.#readMap(indent) : this.#readList(indent);
    cursor.flowDepth -= 1;
    return value;
  }

  #readMap(indent: number): YamlValue {
    const row = this.open(FLOW_MAP);
    const members: Members = {};
    let count = 0;
    while (this.#hasMember(indent, MAP_END, count === 0)) {
      count += 1;
      const key = this.readKey(members);
      this.#skipLines(indent);
      members[key] = this.readFlow(indent);
    }
    this.close(row, count);
    return members;
  }

  #readList(indent: number): YamlValue {
    const row = this.open(FLOW_LIST);
    const members: YamlValue[] = [];
    while (this.#hasMember(indent, LIST_END, members.length === 0)) members.push(this.readFlow(indent));
    this.close(row, members.length);
    return members;
  }

  /** Skips the opening bracket, or the comma before a member. Returns false after the closing bracket. */
  #hasMember(indent: number, closing: number, isFirst: boolean): boolean {
    const cursor = this.#cursor;
    if (!isFirst) this.#skipLines(indent);
    if (isFirst || cursor.code === COMMA) {
      cursor.at += 1;
      this.#skipLines(indent);
    } else if (cursor.code !== closing) throw new NotSimple();
    if (cursor.code !== closing) return true;
    cursor.at += 1;
    return false;
  }

  /** Skips spaces, line breaks and comments. */
  #skipLines(indent: number): void {
    const cursor = this.#cursor;
    cursor.skipSpaces();
    const { code } = cursor;
    if (code !== LF && code !== CR && code !== HASH) return;
    cursor.endLine();
    // The last bracket may have the column of its key.
    const isLast = cursor.flowDepth === 1 && isClosingBracket(cursor.code);
    if (cursor.column < (isLast ? indent - 1 : indent)) throw new NotSimple();
  }
}
