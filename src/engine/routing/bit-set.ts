/** A set of small integers. One step combines 32 of them, so two sets of 10,000 routes combine in less than a microsecond. */
export class BitSet {
  readonly #words: Int32Array;

  private constructor(words: Int32Array) {
    this.#words = words;
  }

  /** Returns an empty set for integers below `size`. */
  static empty(size: number): BitSet {
    return new BitSet(new Int32Array(Math.ceil(size / 32)));
  }

  static of(size: number, members: Iterable<number>): BitSet {
    const set = BitSet.empty(size);
    for (const member of members) set.add(member);
    return set;
  }

  copy(): BitSet {
    return new BitSet(this.#words.slice());
  }

  has(member: number): boolean {
    return ((this.#words[member >> 5] as number) & (1 << (member & 31))) !== 0;
  }

  add(member: number): void {
    (this.#words[member >> 5] as number) |= 1 << (member & 31);
  }

  delete(member: number): void {
    (this.#words[member >> 5] as number) &= ~(1 << (member & 31));
  }

  clear(): void {
    this.#words.fill(0);
  }

  isEmpty(): boolean {
    return this.next(0) === undefined;
  }

  /** Keeps the members that the other set has too. Returns this set, as the next methods do. */
  intersect(set: BitSet): this {
    const [words, other] = [this.#words, set.#words];
    for (let index = 0; index < words.length; index += 1) (words[index] as number) &= other[index] as number;
    return this;
  }

  unite(set: BitSet): this {
    const [words, other] = [this.#words, set.#words];
    for (let index = 0; index < words.length; index += 1) (words[index] as number) |= other[index] as number;
    return this;
  }

  subtract(set: BitSet): this {
    const [words, other] = [this.#words, set.#words];
    for (let index = 0; index < words.length; index += 1) (words[index] as number) &= ~(other[index] as number);
    return this;
  }

  /** Returns the smallest member that is at least `from`. */
  next(from: number): number | undefined {
    const words = this.#words;
    let index = from >> 5;
    if (index >= words.length) return undefined;
    let word = (words[index] as number) & (-1 << (from & 31));
    while (word === 0) {
      index += 1;
      if (index >= words.length) return undefined;
      word = words[index] as number;
    }
    return index * 32 + 31 - Math.clz32(word & -word);
  }

  /** Yields the members in ascending order. Members may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<number> {
    for (let member = this.next(0); member !== undefined; member = this.next(member + 1)) yield member;
  }
}
