import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import type { WorkerPlace } from '../../shared-memory/worker-context.ts';

/** The weight of a result halves in this time. */
const HALF_LIFE_MS = 10_000;
/** Weights change at most this often: many requests a second would otherwise compute a power each. */
const MIN_DECAY_MS = 1;

/** The row of each worker is on a cache line of its own. A time of 0 means never; other times are one millisecond later. */
const STRIDE = 8;
const SUCCESSES = 0;
const FAILURES = 1;
/** The time to which the weights of the successes and failures belong. */
const WEIGHTED_AT = 2;
const SUCCEEDED_AT = 3;
const FAILED_AT = 4;
const IS_LATEST_FAILURE = 5;
/** The row counts only if this is the current epoch. */
const EPOCH = 6;

/** @param workers the number of workers */
export function resultsMemory(parts: BufferParts, workers: number) {
  // A reset begins a new epoch, so that it writes to no row of another worker.
  return { rows: parts.float64(workers * STRIDE), epoch: parts.int32(1) };
}

type ResultsMemory = ReturnType<typeof resultsMemory>;

interface ResultSums {
  /** -Infinity for never, as `failedAt`. */
  readonly succeededAt: number;
  readonly failedAt: number;
  /** The weight of the failures without that of the successes. */
  readonly difference: number;
  readonly isLatestSuccess: boolean;
}

/** Successes and failures of requests, weighted by their age. Each worker counts its own, so none waits for another. */
export class RecentResults {
  readonly #rows: Float64Array;
  readonly #epoch: Int32Array;
  /** The first cell of the row of this worker. */
  readonly #own: number;

  constructor({ rows, epoch }: ResultsMemory, { index }: WorkerPlace) {
    this.#rows = rows;
    this.#epoch = epoch;
    this.#own = index * STRIDE;
  }

  /** Adds a result of this worker. */
  add(isSuccess: boolean, now: number): void {
    const rows = this.#rows;
    const own = this.#own;
    const epoch = this.#epoch[0] as number;
    if (rows[own + EPOCH] !== epoch) rows.fill(0, own, own + EPOCH);
    const ms = now - (rows[own + WEIGHTED_AT] as number);
    if (rows[own + EPOCH] !== epoch || ms >= MIN_DECAY_MS) {
      const weight = weightAfter(ms);
      (rows[own + SUCCESSES] as number) *= weight;
      (rows[own + FAILURES] as number) *= weight;
      rows[own + WEIGHTED_AT] = now;
      rows[own + EPOCH] = epoch;
    }
    (rows[own + (isSuccess ? SUCCESSES : FAILURES)] as number) += 1;
    rows[own + (isSuccess ? SUCCEEDED_AT : FAILED_AT)] = now + 1;
    rows[own + IS_LATEST_FAILURE] = isSuccess ? 0 : 1;
  }

  /** Takes back a success of this worker. */
  removeSuccess(): void {
    this.#rows[this.#own + SUCCESSES] = Math.max(0, (this.#rows[this.#own + SUCCESSES] as number) - 1);
  }

  /** Returns the results of all workers. */
  sum(now: number): ResultSums {
    let [succeededAt, failedAt, latestAt, difference, isLatestSuccess] = [0, 0, 0, 0, true];
    for (let row = 0; row < this.#rows.length; row += STRIDE) {
      const cell = (field: number) => this.#rows[row + field] as number;
      if (cell(EPOCH) !== this.#epoch[0]) continue;
      succeededAt = Math.max(succeededAt, cell(SUCCEEDED_AT));
      failedAt = Math.max(failedAt, cell(FAILED_AT));
      difference += (cell(FAILURES) - cell(SUCCESSES)) * weightAfter(now - cell(WEIGHTED_AT));
      const at = Math.max(cell(SUCCEEDED_AT), cell(FAILED_AT));
      if (at <= latestAt) continue;
      latestAt = at;
      isLatestSuccess = cell(IS_LATEST_FAILURE) === 0;
    }
    return { succeededAt: toTime(succeededAt), failedAt: toTime(failedAt), difference, isLatestSuccess };
  }

  /** Discards the results of all workers. */
  reset(): void {
    Atomics.add(this.#epoch, 0, 1);
  }
}

function weightAfter(ms: number): number {
  return 2 ** (-ms / HALF_LIFE_MS);
}

function toTime(cell: number): number {
  return cell === 0 ? Number.NEGATIVE_INFINITY : cell - 1;
}
