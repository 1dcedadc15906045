import type { Exchange } from '../../engine/gateway/exchange.ts';
import { GrowingBuffer } from '../../engine/http1/growing-buffer.ts';
import type { SharedComparison } from './shared-comparison.ts';

/** The most bytes of one body, and of those of all workers together, that are kept for the candidate. Their buffers take up to twice as much. */
const MAX_BODY_BYTES = 1024 ** 2;
const MAX_ALL_BYTES = 16 * 1024 ** 2;

/** The memory for copies of bodies, of all workers together. */
type KeptBodies = Pick<SharedComparison, 'acquireBytes' | 'releaseBytes'>;

/** A copy of the body of one request. The gateway gives the original away to the thread that validates it. */
export class KeptBody implements NonNullable<Exchange['bodyCopy']> {
  readonly #memory: KeptBodies;
  /** `undefined` if only the size is needed, or the bytes are too many. */
  #buffer: GrowingBuffer | undefined;
  #keptBytes = 0;
  /** The bytes so far, whether they are kept or not. */
  size = 0;
  isComplete = false;

  /** @param keepsBytes false if only the size is needed */
  constructor(memory: KeptBodies, keepsBytes: boolean) {
    this.#memory = memory;
    this.#buffer = keepsBytes ? new GrowingBuffer(MAX_BODY_BYTES) : undefined;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.#buffer === undefined) return;
    // The buffer itself copies all chunks but the first.
    const copy = this.#keptBytes === 0 ? Buffer.from(chunk) : chunk;
    const hasMemory = this.#memory.acquireBytes(chunk.length, MAX_ALL_BYTES);
    if (hasMemory) this.#keptBytes += chunk.length;
    if (!hasMemory || !this.#buffer.add(copy)) this.release();
  }

  end(): void {
    this.isComplete = true;
  }

  /** Returns the complete body; `undefined` if it is not complete or not kept. */
  bytes(): Buffer | undefined {
    return this.isComplete ? this.#buffer?.bytes() : undefined;
  }

  release(): void {
    this.#memory.releaseBytes(this.#keptBytes);
    this.#keptBytes = 0;
    this.#buffer = undefined;
  }
}
