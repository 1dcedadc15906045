/**
 * Bytes that come in pieces, in memory of their own. The pieces themselves are not kept: a client may send one byte
 * in each, and each would take a hundred. It grows with what came, not with what was announced: thousands may announce much
 * and send nothing. What became too small is given back at once, not left to the collector.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #first: Buffer | undefined;
  #memory: Buffer<ArrayBuffer> | undefined;
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
    return this.#first ?? this.#memory?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  #copy(piece: Buffer, at: number): void {
    const size = at + piece.length;
    let memory = this.#memory;
    if (memory === undefined || size > memory.length) {
      const capacity = Math.min(this.#maxBytes, 2 * size);
      memory = Buffer.from(memory?.buffer.transfer(capacity) ?? new ArrayBuffer(capacity));
    }
    piece.copy(memory, at);
    this.#memory = memory;
  }
}
