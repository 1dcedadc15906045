import { BLOCK_LIST, BLOCK_MAP, SCALAR, type ValuePositions } from '../value-positions.ts';
import type { YamlValue } from '../yaml-values.ts';
import { LINE_END, NotSimple } from './cursor.ts';
import { FlowReader, type Members, OPENING } from './flow-reader.ts';
import { readBlockScalar, scalarEnd } from './scalars.ts';

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
 * Reads YAML text of simple forms: maps and lists, as blocks or in brackets, scalars, and texts below `|` or `>`. JSON is such
 * text. Returns the values and positions that the YAML parser finds, in less than a tenth of its time. Returns `undefined` for any
 * other text, and for text with an error: the YAML parser reads it.
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

const DOCUMENT_START = /---(?=[ \r\n]|$)/y;
const DASH = /-(?=[ \r\n]|$)/y;
/** The start of a text, an anchor or an alias, or of a value in brackets. */
const NOT_KEY = /[|>&*[{]/y;

class BlockReader extends FlowReader {
  read(): SimpleDocument {
    const { cursor, positions } = this;
    if (cursor.column === 0 && cursor.skip(DOCUMENT_START)) cursor.endLine();
    if (cursor.column !== 0) throw new NotSimple();
    const value = cursor.sees(OPENING) ? this.#readLine(0) : this.#readBlock(0);
    if (cursor.character !== undefined) throw new NotSimple();
    return { value, positions, comments: cursor.comments, hasLookAlike: this.hasLookAlike };
  }

  /** Reads the list or map that begins at the cursor. */
  #readBlock(column: number): YamlValue {
    return this.cursor.sees(DASH) ? this.#readList(column) : this.#readMap(column);
  }

  #readMap(column: number): YamlValue {
    const { cursor } = this;
    const row = this.open(BLOCK_MAP);
    const members: Members = {};
    do {
      const key = this.readKey(members);
      members[key] = this.#readMember(column, true);
    } while (cursor.column === column && !cursor.sees(DASH));
    return this.#closeBlock(row, column, members);
  }

  #readList(column: number): YamlValue {
    const { cursor } = this;
    const row = this.open(BLOCK_LIST);
    const members: YamlValue[] = [];
    do {
      cursor.at += 1;
      cursor.skipSpaces();
      const isBlock = this.#seesBlock();
      members.push(isBlock ? this.#readBlock(cursor.at - cursor.lineStart) : this.#readMember(column, false));
    } while (cursor.column === column && cursor.sees(DASH));
    return this.#closeBlock(row, column, members);
  }

  #closeBlock(row: number, column: number, members: YamlValue): YamlValue {
    if (this.cursor.column > column) throw new NotSimple();
    return this.close(row, members);
  }

  /** True if the value at the cursor is a list or a map without brackets. */
  #seesBlock(): boolean {
    const { cursor } = this;
    if (cursor.sees(LINE_END) || cursor.sees(NOT_KEY)) return false;
    return cursor.sees(DASH) || cursor.text[scalarEnd(cursor)] === ':';
  }

  /** Reads the value after a colon or a dash, and the rest of its line. */
  #readMember(column: number, isInMap: boolean): YamlValue {
    const { cursor } = this;
    cursor.skipSpaces();
    if (cursor.sees(LINE_END)) return this.#readBelow(column, isInMap);
    return cursor.character === '|' || cursor.character === '>' ? this.#readText(column) : this.#readLine(column + 1);
  }

  /** Reads a value in brackets or a scalar, and the rest of its line. */
  #readLine(indent: number): YamlValue {
    const value = this.readFlow(indent);
    this.cursor.endLine();
    return value;
  }

  #readText(column: number): string {
    const { at: start } = this.cursor;
    const value = readBlockScalar(this.cursor, column);
    this.addScalar(start);
    this.cursor.nextContent();
    return value;
  }

  /** Reads a block on the lines below; an empty value if there is none. */
  #readBelow(column: number, isInMap: boolean): YamlValue {
    const { cursor } = this;
    const { at: start } = cursor;
    cursor.endLine();
    if (cursor.column > column) return this.#seesBlock() ? this.#readBlock(cursor.column) : this.#readLine(column + 1);
    // A list may have the column of its key.
    if (isInMap && cursor.column === column && cursor.sees(DASH)) return this.#readList(column);
    this.positions.add(SCALAR, start, start);
    return null;
  }
}
