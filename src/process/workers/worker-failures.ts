import type { WorkerStatus } from './worker-status.ts';

const MAX_FAILURES = 3;
const WINDOW_MS = 60_000;

/** Counts the workers that ended unexpectedly. */
export class WorkerFailures {
  total = 0;
  last: WorkerStatus['lastFailure'];
  /** The times of the latest failures. */
  #recent: number[] = [];

  /** @throws Error if too many workers ended within a minute */
  add(reason: string): void {
    const now = performance.now();
    this.total += 1;
    this.last = { reason, at: new Date() };
    this.#recent = [...this.#recent.filter((at) => now - at < WINDOW_MS), now];
    if (this.#recent.length >= MAX_FAILURES)
      throw new Error(`${MAX_FAILURES} workers ended unexpectedly within a minute; the last one: ${reason}`);
  }
}
