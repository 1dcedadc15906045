/** Memory that nothing was written to costs nothing: the kernel gives it page by page. */
const GROWTH = 8;

/**
 * Bytes that come in pieces, in memory of their own. The pieces themselves are not kept: a client may send one byte
 * in each, and each would take a hundred. Nor is the memory that became too small left to the collector.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #first: Buffer | undefined;
  #memory = Buffer.from(new ArrayBuffer(0));
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False, and nothing is added, when they would be more than there may be. */
  add(piece: Buffer): boolean {
    if (this.#size + piece.length > this.#maxBytes) return false;
    // Most bodies come in one piece, which is then taken as it is.
    if (this.#size === 0) this.#first = piece;
    else {
      if (this.#first !== undefined) this.#copy(this.#first, 0);
      this.#first = undefined;
      this.#copy(piece, this.#size);
    }
    this.#size += piece.length;
    return true;
  }

  bytes(): Buffer {
    return this.#first ?? this.#memory.subarray(0, this.#size);
  }

  #copy(piece: Buffer, at: number): void {
    const size = at + piece.length;
    if (size > this.#memory.length) {
      const capacity = Math.min(this.#maxBytes, GROWTH * size);
      this.#memory = Buffer.from(this.#memory.buffer.transfer(capacity));
    }
    piece.copy(this.#memory, at);
  }
}
