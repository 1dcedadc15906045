import { UnknownFact } from '../outcome.ts';

const DECISION_TIMEOUT_MS = 3_000;

/** Waits for a step of the decision. Rejects with `UnknownFact` if it takes too long. */
export async function withTimeout(work: Promise<unknown> & { readonly cancel?: () => void }): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      work.cancel?.();
      reject(new UnknownFact('timeout'));
    }, DECISION_TIMEOUT_MS).unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
