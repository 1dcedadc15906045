import type { BufferParts } from './buffer-parts.ts';
import type { WorkerPlace } from './worker-context.ts';

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
