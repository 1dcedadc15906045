import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { SlicedWork } from '../plan/sliced-work.ts';

/** Each millisecond of work uses up four: one for the work, three for everything else. */
const REST_FACTOR = 4;
/** Work that may be done before the thread rests: small responses do not wait. */
const BURST_MS = 4;
/** Parsing a request and writing its response takes about so long, which nobody can measure from inside. */
const OVERHEAD_MS = 0.05;
/** Work that can be interrupted holds the event loop for so long. */
export const SLICE_MS = 1;

/**
 * Bounds the share of the serving thread that the admin API takes: a quarter, in slices, however many callers there are and
 * however much they request. Pieces of work run one after the other, in the order in which they were requested.
 */
export class CpuBudget {
  #last: Promise<unknown> = Promise.resolve();
  /** When the thread has rested from all work done so far. */
  #restedAt = 0;

  /** Runs work that holds the event loop for a few milliseconds at most. */
  async run<T>(work: () => T): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      const restMs = this.#restedAt - performance.now() - BURST_MS * REST_FACTOR;
      await (restMs > 0 ? sleep(restMs) : turn());
      return this.#charged(work);
    } finally {
      resolve();
    }
  }

  /** Runs work of any length, slice by slice. */
  async runInSlices<Made>(steps: SlicedWork<Made>): Promise<Made> {
    for (;;) {
      const slice = await this.run(() => sliceOf(steps));
      if (slice.done) return slice.value;
    }
  }

  #charged<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      const end = performance.now();
      this.#restedAt = Math.max(this.#restedAt, start) + (end - start + OVERHEAD_MS) * REST_FACTOR;
    }
  }
}

function sliceOf<Made>(steps: SlicedWork<Made>): IteratorResult<undefined, Made> {
  const endMs = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= endMs) return step;
  }
}
