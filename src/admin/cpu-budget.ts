import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { SlicedWork } from '../engine/plan/sliced-work.ts';
import { runSlice } from '../process/run-in-slices.ts';

/** After each millisecond of work, the admin API leaves three to the rest of the process. */
const PAUSE_FACTOR = 4;
/** Work before the first pause, so that small responses do not wait. */
const BURST_MS = 4;
/** The estimated time to parse a request and write its response, which cannot be measured here. */
const OVERHEAD_MS = 0.05;
/** The time after which work in slices yields to the event loop. */
export const SLICE_MS = 1;

/** Limits the admin API to a quarter of the time of the serving thread. Work runs one item at a time, in the order of the calls. */
export class CpuBudget {
  #last: Promise<unknown> = Promise.resolve();
  /** When the pause for all work so far ends, by `performance.now()`. */
  #pauseEndMs = 0;

  /** Runs work that blocks the event loop for at most a few milliseconds. */
  async run<T>(work: () => T): Promise<T> {
    const previous = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await previous;
    try {
      const pauseMs = this.#pauseEndMs - performance.now() - BURST_MS * PAUSE_FACTOR;
      await (pauseMs > 0 ? sleep(pauseMs) : turn());
      return this.#runAndCharge(work);
    } finally {
      resolve();
    }
  }

  /** Runs work of any length, slice by slice. */
  async runInSlices<Result>(work: SlicedWork<Result>): Promise<Result> {
    for (;;) {
      const slice = await this.run(() => runSlice(work, SLICE_MS));
      if (slice.done) return slice.value;
    }
  }

  #runAndCharge<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      const end = performance.now();
      this.#pauseEndMs = Math.max(this.#pauseEndMs, start) + (end - start + OVERHEAD_MS) * PAUSE_FACTOR;
    }
  }
}
