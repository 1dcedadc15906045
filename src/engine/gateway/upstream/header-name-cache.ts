/** Longer names are not cached: headers in regular use are shorter. */
const MAX_LENGTH = 64;
/** The most names in one generation. */
const GENERATION = 1_000;

/**
 * Caches a value by header name, in two generations. A lookup moves a name from the old generation to the young one, so the
 * invented names of a hostile client evict only names that are not in use. An LRU cache would write at each lookup.
 */
export class HeaderNameCache<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(name: string): Value | undefined {
    const value = this.#young.get(name);
    return value === undefined ? this.#revive(name) : value;
  }

  set(name: string, value: Value): void {
    if (name.length > MAX_LENGTH) return;
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, value);
  }

  #revive(name: string): Value | undefined {
    const value = this.#old.get(name);
    if (value === undefined) return undefined;
    this.#old.delete(name);
    this.set(name, value);
    return value;
  }
}
