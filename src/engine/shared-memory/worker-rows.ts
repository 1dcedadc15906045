import { MAX_WORKERS } from './worker-context.ts';

/** Numbers by name that each worker counts in a row of its own, so that it needs no lock. All workers can read their sums. */
export class WorkerRows<Name extends string> {
  readonly #cells: Float64Array;
  readonly #columns: ReadonlyMap<Name, number>;
  /** The row of this worker, in the order of the names. For the hot path. */
  readonly own: Float64Array;

  /** @param cells a row for each of `MAX_WORKERS` workers, with room for all names */
  constructor(cells: Float64Array, names: readonly Name[], workerIndex: number) {
    this.#cells = cells;
    this.#columns = new Map(names.map((name, column) => [name, column]));
    const length = cells.length / MAX_WORKERS;
    this.own = cells.subarray(workerIndex * length, (workerIndex + 1) * length);
  }

  /** Adds 1 to a number of this worker. */
  add(name: Name): void {
    (this.own[this.#columns.get(name) as number] as number) += 1;
  }

  set(name: Name, value: number): void {
    this.own[this.#columns.get(name) as number] = value;
  }

  /** Returns the sum over all workers, terminated ones included. */
  sum(name: Name): number {
    let sum = 0;
    for (let cell = this.#columns.get(name) as number; cell < this.#cells.length; cell += this.own.length)
      sum += this.#cells[cell] as number;
    return sum;
  }
}
