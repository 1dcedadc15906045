import type { Path } from '../problem/finding.ts';

/** Offsets in UTF-16 code units. */
export type OffsetRange = { readonly start: number; readonly end: number };

/** A row has the index of its kind. */
const KINDS = ['scalar', 'block map', 'block list', 'flow map', 'flow list'] as const;
export type ValueKind = (typeof KINDS)[number];

/** The columns of a row. A member of a list, and the root, have a key that ends at 0. */
const KEY_START = 0;
const KEY_END = 1;
const START = 2;
const END = 3;
/** The row after the last member of a collection. */
const NEXT = 4;
const KIND = 5;
const COLUMNS = 6;

/** The member at the end of a path. */
interface FoundValue {
  readonly row: number;
  /** The row of the collection that contains it; -1 for the root. */
  readonly parent: number;
  /** The number of steps of the path that exist. */
  readonly depth: number;
}

/**
 * The offsets of the keys and values of a text, one row for each value, in the order of the text. Large manifests have hundreds
 * of thousands of values, so a row is six numbers and not an object.
 */
export class ValuePositions {
  #cells = new Int32Array(64 * COLUMNS);
  #rows = 0;
  readonly #keys: (string | undefined)[] = [];
  /** The rows of values that aliases refer to, by the rows of the aliases. */
  readonly #aliased = new Map<number, number>();
  readonly #members = new Map<number, ReadonlyMap<string | number, number>>();

  get count(): number {
    return this.#rows;
  }

  /** Sets the key of the value that is added next. */
  setKey(key: string, start: number, end: number): void {
    const at = this.#rows * COLUMNS;
    this.#keys.push(key);
    this.#cells[at + KEY_START] = start;
    this.#cells[at + KEY_END] = end;
  }

  /** Adds a row and returns its number. The members of a collection follow, then `close` is called. */
  open(kind: ValueKind, start: number): number {
    const row = this.#rows;
    this.#rows += 1;
    if (this.#keys.length === row) this.#keys.push(undefined);
    this.#cells[row * COLUMNS + START] = start;
    this.#cells[row * COLUMNS + KIND] = KINDS.indexOf(kind);
    // The key of the next row may be set before the row is added.
    if ((this.#rows + 1) * COLUMNS > this.#cells.length) this.#grow();
    return row;
  }

  close(row: number, end: number): void {
    this.#cells[row * COLUMNS + END] = end;
    this.#cells[row * COLUMNS + NEXT] = this.#rows;
  }

  addScalar(start: number, end: number): void {
    this.close(this.open('scalar', start), end);
  }

  setAlias(row: number, target: number): void {
    this.#aliased.set(row, target);
  }

  /** Returns the row of the value that an alias refers to; of any other value, its own row. */
  targetOf(row: number): number {
    return this.#aliased.get(row) ?? row;
  }

  /** Follows a path as far as it exists. */
  find(path: Path, aliases: 'follow' | 'stop'): FoundValue {
    let found: FoundValue = { row: 0, parent: -1, depth: 0 };
    for (const [index, step] of path.entries()) {
      const parent = (aliases === 'follow' ? this.#aliased.get(found.row) : undefined) ?? found.row;
      const row = this.#membersOf(parent).get(step);
      if (row === undefined) break;
      found = { row, parent, depth: index + 1 };
    }
    return found;
  }

  /** Yields the members of a collection in the order of the text, with those of an equal key too. */
  *members(row: number): Generator<{ readonly step: string | number; readonly row: number }> {
    const end = this.#cell(row, NEXT);
    let index = 0;
    for (let member = row + 1; member < end; member = this.#cell(member, NEXT)) {
      yield { step: this.#keys[member] ?? index, row: member };
      index += 1;
    }
  }

  /** Returns the path of the innermost value that an offset is in, or behind whose start it is in a block. */
  pathAt(offset: number): Path {
    const path: (string | number)[] = [];
    for (let row = 0; ; ) {
      let last: { readonly step: string | number; readonly row: number } | undefined;
      for (const member of this.members(row)) {
        if ((this.keyOf(member.row) ?? this.valueOf(member.row)).start > offset) break;
        last = member;
      }
      if (last === undefined) return path;
      path.push(last.step);
      row = last.row;
    }
  }

  /** Returns the offsets of a key or a value; of the parent if the member is missing. */
  offsetsAt({ path, at }: { path: Path; at: 'key' | 'value' }): OffsetRange {
    const { row } = this.find(path, 'follow');
    return (at === 'key' ? this.keyOf(row) : undefined) ?? this.#highlightOf(row);
  }

  keyOf(row: number): OffsetRange | undefined {
    const end = this.#cell(row, KEY_END);
    return end === 0 ? undefined : { start: this.#cell(row, KEY_START), end };
  }

  valueOf(row: number): OffsetRange {
    return { start: this.#cell(row, START), end: this.#cell(row, END) };
  }

  /** Returns the offsets of the texts whose key matches, and of those in a list with such a key. */
  scalarsNamed(key: RegExp): OffsetRange[] {
    const found: OffsetRange[] = [];
    for (let row = 0; row < this.#rows; row += 1) {
      if (!key.test(this.#keys[row] ?? '')) continue;
      for (let inside = row; inside < this.#cell(row, NEXT); inside += 1)
        if (this.isScalar(inside) && (inside === row || this.#keys[inside] === undefined))
          found.push(this.valueOf(inside));
    }
    return found;
  }

  /** Returns the end of the last value inside. The comments and empty lines after a block are no part of it. */
  contentEndOf(row: number): number {
    let end = this.#cell(row, START);
    for (let inside = row; inside < this.#cell(row, NEXT); inside += 1) {
      const kind = this.kindOf(inside);
      if (kind !== 'block map' && kind !== 'block list') end = Math.max(end, this.#cell(inside, END));
    }
    return end;
  }

  kindOf(row: number): ValueKind {
    return KINDS[this.#cell(row, KIND)] as ValueKind;
  }

  isScalar(row: number): boolean {
    return this.kindOf(row) === 'scalar';
  }

  /** Returns the offsets of the first key of a block: highlighting the complete block would underline half of the file. */
  #highlightOf(row: number): OffsetRange {
    const kind = this.kindOf(row);
    const isEmpty = this.#cell(row, NEXT) === row + 1;
    if (kind === 'block map' && !isEmpty) return this.keyOf(row + 1) ?? this.valueOf(row);
    if (kind === 'block list' && !isEmpty) return this.#highlightOf(row + 1);
    return this.valueOf(row);
  }

  #membersOf(row: number): ReadonlyMap<string | number, number> {
    const cached = this.#members.get(row);
    if (cached !== undefined) return cached;
    const members = new Map<string | number, number>();
    // The first of two equal keys wins.
    for (const { step, row: member } of this.members(row)) if (!members.has(step)) members.set(step, member);
    this.#members.set(row, members);
    return members;
  }

  #cell(row: number, column: number): number {
    return this.#cells[row * COLUMNS + column] ?? 0;
  }

  #grow(): void {
    const cells = new Int32Array(this.#cells.length * 2);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}
