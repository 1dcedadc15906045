import type { WorkerPlace } from './worker-context.ts';

/** Parts begin on cache lines, so that threads that write different parts do not slow each other down. */
const LINE_BYTES = 64;

/** Divides a buffer into consecutive parts. Without a buffer it only measures, and the parts are empty. */
export class BufferParts {
  readonly #buffer: SharedArrayBuffer | undefined;
  #bytes = 0;

  constructor(buffer?: SharedArrayBuffer) {
    this.#buffer = buffer;
  }

  /** The size of all parts so far. */
  get bytes(): number {
    return this.#bytes;
  }

  uint8(length: number): Uint8Array {
    const offset = this.#take(length);
    return this.#buffer === undefined ? new Uint8Array() : new Uint8Array(this.#buffer, offset, length);
  }

  int32(length: number): Int32Array {
    const offset = this.#take(length * Int32Array.BYTES_PER_ELEMENT);
    return this.#buffer === undefined ? new Int32Array() : new Int32Array(this.#buffer, offset, length);
  }

  float64(length: number): Float64Array {
    const offset = this.#take(length * Float64Array.BYTES_PER_ELEMENT);
    return this.#buffer === undefined ? new Float64Array() : new Float64Array(this.#buffer, offset, length);
  }

  #take(bytes: number): number {
    const offset = this.#bytes;
    this.#bytes += Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;
    return offset;
  }
}

/** Returns the size of a buffer for these parts. */
export function bytesOf(take: (parts: BufferParts) => unknown): number {
  const parts = new BufferParts();
  take(parts);
  return parts.bytes;
}

/** Returns parts that no other thread has. */
export function privateParts<T>(take: (parts: BufferParts) => T): T {
  return take(new BufferParts(new SharedArrayBuffer(bytesOf(take))));
}

/** A buffer of shared memory. Its size depends only on the definitions in the plan. */
export interface BufferDefinition {
  readonly name: string;
  readonly bytes: number;
  /** The size up to which it can grow. */
  readonly maxBytes?: number;
}

/** Each worker writes to a cache line of its own. */
const STRIDE = 8;

/** Returns the memory of a `WorkerCounter`. @param count the number of workers */
export function workerCounterMemory(parts: BufferParts, count: number): Float64Array {
  return parts.float64(count * STRIDE);
}

/** A number to which each worker adds a part of its own. No worker waits for another one. */
export class WorkerCounter {
  readonly #memory: Float64Array;
  readonly #own: number;
  readonly #end: number;

  constructor(memory: Float64Array, { index, count }: WorkerPlace) {
    this.#memory = memory;
    this.#own = index * STRIDE;
    this.#end = count * STRIDE;
  }

  /** @param amount negative to subtract */
  add(amount: number): void {
    this.#memory[this.#own] = this.own + amount;
  }

  get own(): number {
    return this.#memory[this.#own] as number;
  }

  get total(): number {
    let total = 0;
    for (let cell = 0; cell < this.#end; cell += STRIDE) total += this.#memory[cell] as number;
    return total;
  }

  /** The sum of all other workers. */
  get others(): number {
    return this.total - this.own;
  }

  /** Removes the part of a worker that ended, and returns it. */
  forget(worker: number): number {
    const part = this.#memory[worker * STRIDE] as number;
    this.#memory[worker * STRIDE] = 0;
    return part;
  }
}
