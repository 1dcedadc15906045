/** The two halves of the hash of a client's key. */
export interface ClientHash {
  readonly high: number;
  readonly low: number;
}

/** Returns the number of cells of a set. */
export function clientSetLength(capacity: number): number {
  return 1 + 2 * capacity;
}

/** A bounded set of clients in shared memory, by their hashes. The caller holds a lock to change it. */
export class ClientSet {
  /** The size, then the two halves of each hash. */
  readonly #cells: Int32Array;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  get size(): number {
    return this.#cells[0] as number;
  }

  /** Returns the index of a client, or -1. */
  indexOf({ high, low }: ClientHash): number {
    const cells = this.#cells;
    for (let cell = 1; cell < clientSetLength(this.size); cell += 2)
      if (cells[cell] === (high | 0) && cells[cell + 1] === (low | 0)) return (cell - 1) / 2;
    return -1;
  }

  /** Adds a client. Returns its index, or -1 if there is no room. */
  add(client: ClientHash): number {
    const known = this.indexOf(client);
    if (known !== -1) return known;
    const { size } = this;
    if (clientSetLength(size + 1) > this.#cells.length) return -1;
    this.#cells[1 + 2 * size] = client.high;
    this.#cells[2 + 2 * size] = client.low;
    this.#cells[0] = size + 1;
    return size;
  }

  /** Adds the clients of another set while there is room. */
  addAll(other: ClientSet): void {
    const cells = other.#cells;
    for (let cell = 1; cell < clientSetLength(other.size); cell += 2)
      this.add({ high: cells[cell] as number, low: cells[cell + 1] as number });
  }

  clear(): void {
    this.#cells[0] = 0;
  }
}
