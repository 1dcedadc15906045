import type { ReloadCause, ReloadOutcome } from './reload-outcome.ts';

/** Runs reloads, for which `run` never rejects, one after the other. All causes that arrive while a reload waits share that reload. */
export function createReloadQueue(run: (cause: ReloadCause) => Promise<ReloadOutcome>) {
  let last: Promise<unknown> = Promise.resolve();
  /** The reload that has not started, and its cause. */
  let waiting: Promise<ReloadOutcome> | undefined;
  let waitingCause: ReloadCause = 'change';
  /** `idle` resolves when the last reload has ended. */
  return { add, idle: () => last };

  function add(cause: ReloadCause): Promise<ReloadOutcome> {
    // An explicit reload reports its outcome even if nothing changed, so it outranks the others. A poll does the least.
    if (waiting === undefined || isExplicit(cause) || waitingCause === 'poll') waitingCause = cause;
    waiting ??= last.then(() => {
      waiting = undefined;
      return run(waitingCause);
    });
    last = waiting;
    return waiting;
  }
}

/** True if a person or a program requested the reload. */
export function isExplicit(cause: ReloadCause): boolean {
  return cause === 'request' || cause === 'signal';
}
