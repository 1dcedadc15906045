/**
 * Collects chunks in one buffer. It copies them, because a client may send chunks of one byte, and each would take about 100 bytes.
 * It grows with the received bytes, not with the announced length: thousands of clients may announce a long body and send
 * nothing. A buffer that becomes too small is freed at once instead of by garbage collection.
 */
export class GrowingBuffer {
  /** The bytes so far. */
  size = 0;
  readonly #maxBytes: number;
  #first: Buffer | undefined;
  #memory: Buffer<ArrayBuffer> | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a chunk. Returns false and adds nothing if the limit would be exceeded. */
  add(chunk: Buffer): boolean {
    if (this.size + chunk.length > this.#maxBytes) return false;
    // Most bodies arrive in one chunk, which needs no copy.
    if (this.size === 0) this.#first = chunk;
    else {
      if (this.#first !== undefined) this.#copy(this.#first, 0);
      this.#first = undefined;
      this.#copy(chunk, this.size);
    }
    this.size += chunk.length;
    return true;
  }

  bytes(): Buffer {
    return this.#first ?? this.#memory?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  #copy(chunk: Buffer, offset: number): void {
    const size = offset + chunk.length;
    let memory = this.#memory;
    if (memory === undefined || size > memory.length) {
      const capacity = Math.min(this.#maxBytes, 2 * size);
      memory = Buffer.from(memory?.buffer.transfer(capacity) ?? new ArrayBuffer(capacity));
    }
    chunk.copy(memory, offset);
    this.#memory = memory;
  }
}
