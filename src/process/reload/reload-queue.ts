import type { ReloadCause, ReloadOutcome } from './reload-outcome.ts';

/** Runs reloads one after the other. All causes that arrive while a reload waits share that reload. */
export class ReloadQueue {
  readonly #run: (cause: ReloadCause) => Promise<ReloadOutcome>;
  #last: Promise<unknown> = Promise.resolve();
  /** The reload that has not started, and its cause. */
  #waiting: Promise<ReloadOutcome> | undefined;
  #cause: ReloadCause = 'change';

  /** @param run never rejects */
  constructor(run: (cause: ReloadCause) => Promise<ReloadOutcome>) {
    this.#run = run;
  }

  add(cause: ReloadCause): Promise<ReloadOutcome> {
    // An explicit reload reports its outcome even if nothing changed, so it outranks the others. A poll does the least.
    if (this.#waiting === undefined || isExplicit(cause) || this.#cause === 'poll') this.#cause = cause;
    this.#waiting ??= this.#last.then(() => {
      this.#waiting = undefined;
      return this.#run(this.#cause);
    });
    this.#last = this.#waiting;
    return this.#waiting;
  }

  /** Resolves when the last reload has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** True if a person or a program requested the reload. */
export function isExplicit(cause: ReloadCause): boolean {
  return cause === 'request' || cause === 'signal';
}
