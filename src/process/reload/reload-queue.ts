import type { ReloadCause, ReloadOutcome } from './reload-outcome.ts';

interface PendingReload {
  readonly outcome: Promise<ReloadOutcome>;
  cause: ReloadCause;
}

/** Runs reloads one after the other. All causes that arrive while a reload waits share that reload. */
export class ReloadQueue {
  readonly #run: (cause: ReloadCause) => Promise<ReloadOutcome>;
  #last: Promise<unknown> = Promise.resolve();
  /** The reload that has not started. */
  #pending: PendingReload | undefined;

  /** @param run never rejects */
  constructor(run: (cause: ReloadCause) => Promise<ReloadOutcome>) {
    this.#run = run;
  }

  add(cause: ReloadCause): Promise<ReloadOutcome> {
    if (this.#pending === undefined) {
      const outcome = this.#last.then(() => {
        const { cause: latest } = this.#pending as PendingReload;
        this.#pending = undefined;
        return this.#run(latest);
      });
      this.#pending = { outcome, cause };
      this.#last = outcome;
    } else if (isExplicit(cause) || this.#pending.cause === 'poll') {
      // An explicit reload reports its outcome even if nothing changed, so it outranks the others. A poll does the least.
      this.#pending.cause = cause;
    }
    return this.#pending.outcome;
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
