/** A longer name is not remembered: clients make such names up. */
const MAX_LENGTH = 64;
const GENERATION = 1_000;

/**
 * Remembers something about names, as many as two generations hold. A name that is in use moves to the younger one, so
 * names that a client makes up push out only names that nobody uses. An LRU would write with each look-up.
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
