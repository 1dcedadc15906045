/** Sums an amount for each key. A key with an amount of 0 takes no memory. */
export class UsageByKey<Key> {
  readonly #amounts = new Map<Key, number>();

  /** The number of keys with an amount. */
  get size(): number {
    return this.#amounts.size;
  }

  of(key: Key): number {
    return this.#amounts.get(key) ?? 0;
  }

  /** @param amount negative to release */
  add(key: Key, amount: number): void {
    const total = this.of(key) + amount;
    if (total > 0) this.#amounts.set(key, total);
    else this.#amounts.delete(key);
  }
}
