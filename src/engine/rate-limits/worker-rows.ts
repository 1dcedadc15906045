import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { WORKER_BYTES, WORKERS_AT } from './limit-buffer.ts';

/** The numbers in the row of a worker. The first seven are the members of `LimitCounts`. */
export const ROW = {
  allowed: 0,
  refused: 1,
  reported: 2,
  skipped: 3,
  undecided: 4,
  released: 5,
  fallback: 6,
  evicted: 7,
  overflowed: 8,
  retained: 9,
} as const;

export type RowMember = (typeof ROW)[keyof typeof ROW];

const STRIDE = WORKER_BYTES / 8;

/** The numbers that each worker has counted by a limit. A worker changes only its own row, so it needs no lock. */
export class WorkerRows {
  readonly #cells: Float64Array;
  readonly #start: number;

  constructor(buffer: SharedArrayBuffer, workerIndex: number) {
    this.#cells = new Float64Array(buffer, WORKERS_AT, MAX_WORKERS * STRIDE);
    this.#start = workerIndex * STRIDE;
  }

  /** Adds 1 to a number of this worker. */
  add(member: RowMember): void {
    (this.#cells[this.#start + member] as number) += 1;
  }

  /** Returns the sum over all workers, terminated ones included. */
  sum(member: RowMember): number {
    let sum = 0;
    for (let cell: number = member; cell < this.#cells.length; cell += STRIDE) sum += this.#cells[cell] as number;
    return sum;
  }
}
