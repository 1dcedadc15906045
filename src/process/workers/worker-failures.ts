/** The workers and their failures. */
export interface WorkerStatus {
  /** The number of workers that serve, of `count`. The main thread is one of them. */
  readonly serving: number;
  readonly count: number;
  /** Workers that ended unexpectedly. */
  readonly failures: number;
  /** Those of them that did not respond. */
  readonly hung: number;
  /** Why the last one ended, and when; `undefined` if none did. */
  readonly lastFailure: { readonly reason: string; readonly at: Date } | undefined;
  /** When a validation thread was last replaced because its work took too long. */
  readonly lastValidationHang: Date | undefined;
}

const MAX_FAILURES = 3;
const WINDOW_MS = 60_000;

/** Counts the workers that ended unexpectedly. */
export class WorkerFailures {
  total = 0;
  hung = 0;
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
