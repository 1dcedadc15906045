import { StoreError } from './store-error.ts';

/** A timer that fires later than this shows that the process did not run. Then the server on the same machine may not have run either. */
const STALL_MS = 5;
const MAX_EXTENSIONS = 2;

/**
 * Awaits a response to a command that was just sent. A busy gateway must not take its own delay for a failure of the store: the time
 * begins when the commands of a turn of the event loop were written, begins again if the process did not run at its end, and a response
 * that has arrived by then counts.
 *
 * @throws StoreError `timeout`, or the error of the response
 */
export async function inTime<Value>(response: Promise<Value>, timeoutMs: number): Promise<Value> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const arm = (extensions: number) => {
    const dueAt = performance.now() + timeoutMs;
    timer = setTimeout(() => {
      if (performance.now() - dueAt > STALL_MS && extensions < MAX_EXTENSIONS) arm(extensions + 1);
      // Reads the sockets once more before the decision expires.
      else setImmediate(() => reject(new StoreError('timeout')));
    }, timeoutMs);
  };
  // The library writes the commands of a turn in such a callback too, before this one.
  const start = setImmediate(arm, 0);
  try {
    return await Promise.race([response, expired]);
  } finally {
    clearImmediate(start);
    clearTimeout(timer);
  }
}
