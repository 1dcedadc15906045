import { hasLookAlike } from '../look-alikes.ts';
import { FLOW_LIST, FLOW_MAP, SCALAR, type ValueKind, ValuePositions } from '../value-positions.ts';
import { MAX_DEPTH, MAX_MEMBERS, MAX_NODES, type YamlValue } from '../yaml-values.ts';
import { Cursor, LINE_END, NotSimple } from './cursor.ts';
import { isQuoted, longScalarEnd, scalarEnd, scalarValue } from './scalars.ts';

export type Members = Record<string, YamlValue>;

export const OPENING = /[[{]/y;
const CLOSING = /[\]}]/y;
const COLON = /:(?=[ \r\n]|$)/y;
/** In brackets, the value may directly follow a key in quotes. */
const COLON_AFTER_QUOTE = /:/y;
/** The most code units between the start of a key and its colon. The YAML parser has an exception for keys in brackets. */
const MAX_KEY = 1024;

/** Reads keys, scalars, and values in brackets. */
export class FlowReader {
  protected readonly cursor: Cursor;
  protected readonly positions = new ValuePositions();
  protected hasLookAlike = false;
  #depth = 0;

  constructor(text: string) {
    this.cursor = new Cursor(text);
  }

  /**
   * Reads a value in brackets or a scalar.
   *
   * @param indent the least column of the lines after the first
   */
  protected readFlow(indent: number): YamlValue {
    const { cursor } = this;
    if (!cursor.sees(OPENING)) return this.#readScalar(indent);
    cursor.flowDepth += 1;
    const value = cursor.character === '{' ? this.#readMap(indent) : this.#readList(indent);
    cursor.flowDepth -= 1;
    return value;
  }

  #readMap(indent: number): YamlValue {
    const row = this.open(FLOW_MAP);
    const members: Members = {};
    for (let isFirst = true; this.#hasMember(indent, '}', isFirst); isFirst = false) {
      const key = this.readKey(members);
      this.#skipLines(indent);
      members[key] = this.readFlow(indent);
    }
    return this.close(row, members);
  }

  #readList(indent: number): YamlValue {
    const row = this.open(FLOW_LIST);
    const members: YamlValue[] = [];
    while (this.#hasMember(indent, ']', members.length === 0)) members.push(this.readFlow(indent));
    return this.close(row, members);
  }

  /** Skips the opening bracket, or the comma before a member. Returns false after the closing bracket. */
  #hasMember(indent: number, closing: string, isFirst: boolean): boolean {
    const { cursor } = this;
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
    const { cursor } = this;
    cursor.skipSpaces();
    if (!cursor.sees(LINE_END)) return;
    cursor.endLine();
    // The last bracket may have the column of its key.
    const isLast = cursor.flowDepth === 1 && cursor.sees(CLOSING);
    if (cursor.column < (isLast ? indent - 1 : indent)) throw new NotSimple();
  }

  /** Reads a key and its colon. */
  protected readKey(members: Members): string {
    const { cursor } = this;
    const { at: start, text } = cursor;
    const isInFlow = cursor.flowDepth > 0;
    cursor.at = scalarEnd(cursor);
    const { at: end } = cursor;
    const key = this.#valueOf(start, end, 0);
    if (isInFlow) cursor.skipSpaces();
    if (!cursor.skip(isInFlow && isQuoted(text, start) ? COLON_AFTER_QUOTE : COLON)) throw new NotSimple();
    if (!isInFlow && end - start > MAX_KEY) throw new NotSimple();
    if (typeof key !== 'string' || key === '<<' || key === '__proto__' || Object.hasOwn(members, key))
      throw new NotSimple();
    this.positions.setKey(key, start, end);
    return key;
  }

  #readScalar(indent: number): YamlValue {
    const { cursor } = this;
    const { at: start } = cursor;
    cursor.at = longScalarEnd(cursor, indent);
    this.addScalar(start);
    return this.#valueOf(start, cursor.at, indent);
  }

  #valueOf(start: number, end: number, indent: number): YamlValue {
    const source = this.cursor.text.slice(start, end);
    this.hasLookAlike ||= !isQuoted(source, 0) && hasLookAlike(source);
    return scalarValue(source, indent);
  }

  /** Adds the scalar that ends at the cursor to the positions. */
  protected addScalar(start: number): void {
    this.#checkLimits();
    this.positions.add(SCALAR, start, this.cursor.at);
  }

  /** Adds the collection at the cursor to the positions. Its members follow, then `close` is called. */
  protected open(kind: ValueKind): number {
    this.#checkLimits();
    this.#depth += 1;
    return this.positions.open(kind, this.cursor.at);
  }

  /** Ends a collection at the cursor. */
  protected close(row: number, members: YamlValue): YamlValue {
    const { length } = Array.isArray(members) ? members : Object.keys(members as Members);
    if (length > MAX_MEMBERS) throw new NotSimple();
    this.#depth -= 1;
    this.positions.close(row, this.cursor.at);
    return members;
  }

  #checkLimits(): void {
    if (this.#depth > MAX_DEPTH || this.positions.count + 1 >= MAX_NODES) throw new NotSimple();
  }
}
