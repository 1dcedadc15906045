/**
 * Counters of one thing, in an array for each worker that counts. Only its worker writes an array, so that counting needs no lock
 * and no message. The sums of all arrays never go back.
 */
export class CounterArrays {
  /** The counters of this worker. */
  readonly own: Float64Array<SharedArrayBuffer>;
  /** The arrays of other workers, by their index. Only the main thread has them. */
  readonly #others = new Map<number, Float64Array>();

  constructor(length: number) {
    this.own = new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
  }

  get hasOthers(): boolean {
    return this.#others.size > 0;
  }

  /** Returns the sum over all workers. */
  sum(index: number): number {
    let sum = this.own[index] as number;
    if (this.#others.size > 0) for (const array of this.#others.values()) sum += array[index] as number;
    return sum;
  }

  /** Adds the array of another worker, which continues to write it. */
  add(worker: number, buffer: SharedArrayBuffer): void {
    this.fold(worker);
    this.#others.set(worker, new Float64Array(buffer));
  }

  /** Takes over the counts of a worker that no longer writes its array, without the cells that only hold while it runs. */
  fold(worker: number, gauge?: number): void {
    const array = this.#others.get(worker);
    if (array === undefined) return;
    this.#others.delete(worker);
    for (let index = 0; index < array.length; index += 1)
      if (index !== gauge) this.own[index] = (this.own[index] as number) + (array[index] as number);
  }
}
