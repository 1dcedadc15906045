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

class SimpleReader extends Cursor {
  readonly #positions = new ValuePositions();
  #hasLookAlike = false;
  #depth = 0;

  read() {
    if (this.column === 0 && this.skip(DOCUMENT_START)) this.endLine();
    if (this.column !== 0) throw new NotSimple();
    const value = this.sees(OPENING) ? this.#readLine(0) : this.#readBlock(0);
    if (this.character !== undefined) throw new NotSimple();
    return {
      value,
      positions: this.#positions,
      comments: this.comments,
      /** True if a scalar without quotes has a character that looks like one of YAML. */
      hasLookAlike: this.#hasLookAlike,
    };
  }

  #readBlock(column: number): YamlValue {
    return this.sees(DASH) ? this.#readBlockList(column) : this.#readBlockMap(column);
  }

  #readBlockMap(column: number): YamlValue {
    const row = this.#open('block map');
    const members: Members = {};
    do {
      const key = this.#readKey(members);
      members[key] = this.#readMember(column, true);
    } while (this.column === column && !this.sees(DASH));
    if (this.column > column) throw new NotSimple();
    return this.#close(row, members);
  }

  #readBlockList(column: number): YamlValue {
    const row = this.#open('block list');
    const members: YamlValue[] = [];
    do {
      this.at += 1;
      this.skipSpaces();
      const isBlock = this.#seesBlock();
      members.push(isBlock ? this.#readBlock(this.at - this.lineStart) : this.#readMember(column, false));
    } while (this.column === column && this.sees(DASH));
    if (this.column > column) throw new NotSimple();
    return this.#close(row, members);
  }

  /** True if the value at the cursor is a list or a map without brackets. */
  #seesBlock(): boolean {
    if (this.sees(LINE_END) || this.sees(NOT_KEY)) return false;
    return this.sees(DASH) || this.text[scalarEnd(this)] === ':';
  }

  /** Reads the value after a colon or a dash, and the rest of its line. */
  #readMember(column: number, isInMap: boolean): YamlValue {
    this.skipSpaces();
    return this.sees(LINE_END) ? this.#readBelow(column, isInMap) : this.#readLine(column + 1);
  }

  /** Reads a value in brackets or a scalar, and the rest of its line. */
  #readLine(indent: number): YamlValue {
    const value = this.#readFlow(indent);
    this.endLine();
    return value;
  }

  /** Reads a block on the lines below; an empty value if there is none. */
  #readBelow(column: number, isInMap: boolean): YamlValue {
    const { at: start } = this;
    this.endLine();
    if (this.column > column) return this.#seesBlock() ? this.#readBlock(this.column) : this.#readLine(column + 1);
    // A list may have the column of its key.
    if (isInMap && this.column === column && this.sees(DASH)) return this.#readBlockList(column);
    this.#positions.addScalar(start, start);
    return null;
  }

  /**
   * Reads a value in brackets or a scalar.
   *
   * @param indent the least column of the lines after the first, of a value in brackets
   */
  #readFlow(indent: number): YamlValue {
    const { at: start } = this;
    if (!this.sees(OPENING)) {
      this.at = scalarEnd(this);
      this.#checkLimits();
      this.#positions.addScalar(start, this.at);
      return this.#valueOf(start, this.at);
    }
    this.flowDepth += 1;
    const value = this.character === '{' ? this.#readFlowMap(indent) : this.#readFlowList(indent);
    this.flowDepth -= 1;
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
    if (!isFirst) this.#skipLines(indent);
    if (isFirst || this.character === ',') {
      this.at += 1;
      this.#skipLines(indent);
    } else if (this.character !== closing) throw new NotSimple();
    if (this.character !== closing) return true;
    this.at += 1;
    return false;
  }

  /** Skips spaces, line breaks and comments. */
  #skipLines(indent: number): void {
    this.skipSpaces();
    if (!this.sees(LINE_END)) return;
    this.endLine();
    // The last bracket may have the column of its key.
    const isLast = this.flowDepth === 1 && this.sees(CLOSING);
    if (this.column < (isLast ? indent - 1 : indent)) throw new NotSimple();
  }

  #readKey(members: Members): string {
    const { at: start, text } = this;
    const isInFlow = this.flowDepth > 0;
    this.at = scalarEnd(this);
    const { at: end } = this;
    const key = this.#valueOf(start, end);
    if (isInFlow) this.skipSpaces();
    if (!this.skip(isInFlow && isQuoted(text, start) ? COLON_AFTER_QUOTE : COLON)) throw new NotSimple();
    if (!isInFlow && end - start > MAX_KEY) throw new NotSimple();
    if (typeof key !== 'string' || key === '<<' || key === '__proto__' || Object.hasOwn(members, key))
      throw new NotSimple();
    this.#positions.setKey(key, start, end);
    return key;
  }

  #valueOf(start: number, end: number): YamlValue {
    const source = this.text.slice(start, end);
    this.#hasLookAlike ||= !isQuoted(source, 0) && hasLookAlike(source);
    return scalarValue(source);
  }

  /** Adds the collection at the cursor to the positions. Its members follow, then `#close` is called. */
  #open(kind: ValueKind): number {
    this.#checkLimits();
    this.#depth += 1;
    return this.#positions.open(kind, this.at);
  }

  #close(row: number, members: YamlValue): YamlValue {
    const { length } = Array.isArray(members) ? members : Object.keys(members as Members);
    if (length > MAX_MEMBERS) throw new NotSimple();
    this.#depth -= 1;
    this.#positions.close(row, this.at);
    return members;
  }

  #checkLimits(): void {
    if (this.#depth > MAX_DEPTH || this.#positions.count + 1 >= MAX_NODES) throw new NotSimple();
  }
}
