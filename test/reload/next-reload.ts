import type { Reloader, ReloadOutcome } from '../../src/reload/reloader.ts';

/** Resolves with the outcome of the next reload that a file event causes, also of one that finds no change and is not reported. */
export function nextReload(reloader: Reloader): Promise<ReloadOutcome> {
  const reload = reloader.reload.bind(reloader);
  return new Promise((resolve) => {
    reloader.reload = (cause) => {
      const outcome = reload(cause);
      if (cause === 'change') resolve(outcome);
      return outcome;
    };
  });
}
