import { BLOCK_LIST, BLOCK_MAP, ValuePositions } from '../value-positions.ts';
import type { YamlValue } from '../yaml-values.ts';
import { readBlockScalar } from './block-scalar.ts';
import { AMPERSAND, ASTERISK, COLON, CR, DASH, GREATER, HASH, isOpeningBracket, LF, PIPE } from './characters.ts';
import { Cursor } from './cursor.ts';
import { FlowReader, type Members } from './flow-reader.ts';
import { NotSimple } from './not-simple.ts';
import { keyEnd } from './scalar-text.ts';

/** A text that was read without the YAML parser. */
interface SimpleDocument {
  readonly value: YamlValue;
  readonly positions: ValuePositions;
  /** The offsets of the comments. */
  readonly comments: readonly number[];
  /** True if a scalar without quotes has a character that looks like one of YAML. */
  readonly hasLookAlike: boolean;
}

/**
 * Reads YAML text of simple forms: maps and lists, as blocks or in brackets, scalars on one line, and texts below `|` or `>`. JSON
 * is such text. Returns the values and positions that the YAML parser finds, in less than a tenth of its time. Returns `undefined`
 * for any other text, and for text with an error: the YAML parser reads it.
 *
 * @param text a text without an error of `findTextError`
 */
export function readSimpleYaml(text: string): SimpleDocument | undefined {
  // The YAML parser has its own rules for tabs and byte order marks.
  if (text.includes('\t') || text.includes('\uFEFF')) return undefined;
  try {
    return new BlockReader(text).read();
  } catch (error) {
    if (error instanceof NotSimple) return undefined;
    throw error;
  }
}

/** An anchor or an alias with a usual name, and the space or line break after it. */
const ANCHOR_OR_ALIAS = /[&*]([\w-]+)(?=[ \r\n]|$)/y;

class BlockReader {
  readonly #cursor: Cursor;
  readonly #positions = new ValuePositions();
  readonly #flow: FlowReader;
  /** The values of the anchors, and their rows in the positions. */
  readonly #anchors = new Map<string, { readonly value: YamlValue; readonly row: number }>();

  constructor(text: string) {
    this.#cursor = new Cursor(text);
    this.#flow = new FlowReader(this.#cursor, this.#positions);
  }

  read(): SimpleDocument {
    const cursor = this.#cursor;
    cursor.firstContent(0);
    if (cursor.isMarker()) {
      if (cursor.code !== DASH) throw new NotSimple();
      cursor.at += 3;
      cursor.endLine();
    }
    const value = this.#readRoot();
    if (cursor.column !== -1) throw new NotSimple();
    const { comments, hasLookAlike } = cursor;
    return { value, positions: this.#positions, comments, hasLookAlike };
  }

  #readRoot(): YamlValue {
    const cursor = this.#cursor;
    if (cursor.column !== 0) throw new NotSimple();
    if (!isOpeningBracket(cursor.code)) return this.#readBlock(0);
    const value = this.#flow.readFlow(0);
    cursor.endLine();
    return value;
  }

  /** Reads the list or map that begins at the cursor. */
  #readBlock(column: number): YamlValue {
    return this.#cursor.isDashAt(this.#cursor.at) ? this.#readList(column) : this.#readMap(column);
  }

  #readMap(column: number): YamlValue {
    const cursor = this.#cursor;
    const row = this.#flow.open(BLOCK_MAP);
    const members: Members = {};
    let count = 0;
    do {
      count += 1;
      const key = this.#flow.readKey(members);
      members[key] = this.#readMember(column, true);
    } while (cursor.column === column && !cursor.isDashAt(cursor.at));
    this.#close(row, column, count);
    return members;
  }

  #readList(column: number): YamlValue {
    const cursor = this.#cursor;
    const row = this.#flow.open(BLOCK_LIST);
    const members: YamlValue[] = [];
    do {
      cursor.at += 1;
      cursor.skipSpaces();
      const isBlock = cursor.isDashAt(cursor.at) || this.#isKey();
      members.push(isBlock ? this.#readBlock(cursor.at - cursor.lineStart) : this.#readMember(column, false));
    } while (cursor.column === column && cursor.isDashAt(cursor.at));
    this.#close(row, column, members.length);
    return members;
  }

  #close(row: number, column: number, count: number): void {
    if (this.#cursor.column > column) throw new NotSimple();
    this.#flow.close(row, count);
  }

  /** True if the value at the cursor is the key of a map. */
  #isKey(): boolean {
    const cursor = this.#cursor;
    const { at, code } = cursor;
    const isOther = code === HASH || code === PIPE || code === GREATER || code === AMPERSAND || code === ASTERISK;
    return !isOther && !isOpeningBracket(code) && !cursor.isBlankAt(at) && cursor.codeAt(keyEnd(cursor, at)) === COLON;
  }

  /** Reads the value after a colon or a dash, and the rest of its line. */
  #readMember(column: number, isInMap: boolean): YamlValue {
    const cursor = this.#cursor;
    cursor.skipSpaces();
    const { code } = cursor;
    if (code === LF || code === CR || code === HASH || code === -1) return this.#readBelow(column, isInMap);
    if (code === PIPE || code === GREATER) return this.#readText(column);
    if (code === AMPERSAND) return this.#readAnchored(column);
    if (code === ASTERISK) return this.#readAlias();
    return this.#readFlow(column);
  }

  /** Reads an anchor and its value, which is on the same line or a block on the lines below. */
  #readAnchored(column: number): YamlValue {
    const cursor = this.#cursor;
    const name = this.#readName();
    const row = this.#positions.count;
    cursor.skipSpaces();
    const isBelow = cursor.isLineEndAt(cursor.at) || cursor.code === HASH;
    if (isBelow) cursor.endLine();
    const isBlock = cursor.isDashAt(cursor.at) || this.#isKey();
    // An anchor on the line of a key is that of the key.
    if (isBlock !== isBelow || (isBelow && cursor.column <= column) || this.#anchors.has(name)) throw new NotSimple();
    const value = isBlock ? this.#readBlock(cursor.column) : this.#readMember(column, false);
    this.#anchors.set(name, { value, row });
    return value;
  }

  #readAlias(): YamlValue {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    const anchor = this.#anchors.get(this.#readName());
    if (anchor === undefined) throw new NotSimple();
    this.#positions.setAlias(this.#flow.addScalar(start, cursor.at), anchor.row);
    const value = this.#flow.copy(anchor.value);
    cursor.endLine();
    return value;
  }

  /** Reads the name of an anchor or an alias. */
  #readName(): string {
    const cursor = this.#cursor;
    ANCHOR_OR_ALIAS.lastIndex = cursor.at;
    const [all = '', name] = ANCHOR_OR_ALIAS.exec(cursor.text) ?? [];
    if (name === undefined) throw new NotSimple();
    cursor.at += all.length;
    return name;
  }

  /** Reads a value in brackets or a scalar, and the rest of its line. */
  #readFlow(column: number): YamlValue {
    const value = this.#flow.readFlow(column + 1);
    this.#cursor.endLine();
    return value;
  }

  #readText(column: number): string {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    const value = readBlockScalar(cursor, column);
    this.#flow.addScalar(start, cursor.at);
    cursor.nextContent(cursor.at);
    return value;
  }

  /** Reads a block on the lines below; an empty value if there is none. */
  #readBelow(column: number, isInMap: boolean): YamlValue {
    const cursor = this.#cursor;
    const { at: start } = cursor;
    cursor.endLine();
    if (cursor.column > column)
      return cursor.isDashAt(cursor.at) || this.#isKey() ? this.#readBlock(cursor.column) : this.#readFlow(column);
    // A list may have the column of its key.
    if (isInMap && cursor.column === column && cursor.isDashAt(cursor.at)) return this.#readList(column);
    this.#flow.addScalar(start, start);
    return null;
  }
}
