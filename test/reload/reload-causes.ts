import { vi } from 'vitest';
import type { ReloadOutcome } from '../../src/process/reload/reload-outcome.ts';
import type { Reloader } from '../../src/process/reload/reloader.ts';

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

/** Creates a reloader that does not poll, so that only the watch can find a change. */
export function withoutPoll(create: () => void): void {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  create();
  vi.useRealTimers();
}
