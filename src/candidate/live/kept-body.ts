import type { BodyCopy } from '../../gateway/exchange-observer.ts';
import { GrowingBuffer } from '../../gateway/request/growing-buffer.ts';

/** The most bytes of one body, and of all of them together, that are kept for the candidate. */
const MAX_BODY_BYTES = 1024 ** 2;
const MAX_ALL_BYTES = 16 * 1024 ** 2;

/** The memory for copies of bodies. */
export class KeptBodies {
  #usedBytes = 0;

  get usedBytes(): number {
    return this.#usedBytes;
  }

  acquire(bytes: number): boolean {
    if (this.#usedBytes + bytes > MAX_ALL_BYTES) return false;
    this.#usedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/** A copy of the body of one request. The gateway gives the original away to the thread that validates it. */
export class KeptBody implements BodyCopy {
  readonly #memory: KeptBodies;
  readonly #buffer = new GrowingBuffer(MAX_BODY_BYTES);
  #size = 0;
  #isLost = false;

  constructor(memory: KeptBodies) {
    this.#memory = memory;
  }

  add(chunk: Buffer): void {
    if (this.#isLost) return;
    // The buffer copies later chunks itself.
    const copy = this.#size === 0 ? Buffer.from(chunk) : chunk;
    if (this.#memory.acquire(chunk.length)) {
      this.#size += chunk.length;
      if (this.#buffer.add(copy)) return;
    }
    this.release();
  }

  /** Returns the bytes so far; `undefined` if they were too many. */
  bytes(): Buffer | undefined {
    return this.#isLost ? undefined : this.#buffer.bytes();
  }

  release(): void {
    this.#memory.release(this.#size);
    this.#size = 0;
    this.#isLost = true;
  }
}
