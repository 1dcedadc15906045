/** How much of something each key holds. A key that holds nothing takes no memory. */
export class UsageByKey<Key> {
  readonly #held = new Map<Key, number>();

  /** Keys that hold some of it. */
  get size(): number {
    return this.#held.size;
  }

  of(key: Key): number {
    return this.#held.get(key) ?? 0;
  }

  /** @param amount negative to release */
  add(key: Key, amount: number): void {
    const held = this.of(key) + amount;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
