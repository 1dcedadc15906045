/**
 * Bytes that come in pieces, in memory of their own. The pieces themselves are not kept: a client may send one byte
 * in each, and each would take a hundred.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #memory: Buffer | undefined;
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False, and nothing is added, when they would be more than there may be. */
  add(piece: Buffer): boolean {
    const size = this.#size + piece.length;
    if (size > this.#maxBytes) return false;
    // Most bodies come in one piece, which is then taken as it is.
    if (this.#memory === undefined) this.#memory = piece;
    else {
      if (size > this.#memory.length) this.#memory = this.#grown(size);
      piece.copy(this.#memory, this.#size);
    }
    this.#size = size;
    return true;
  }

  bytes(): Buffer {
    return this.#memory?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  #grown(size: number): Buffer {
    const memory = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(2 * this.#size, size)));
    this.#memory?.copy(memory, 0, 0, this.#size);
    return memory;
  }
}
