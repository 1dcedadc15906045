/** A timer that fires later than this shows that the process did not run. Then the server on the same machine may not have run either. */
const STALL_MS = 5;
const MAX_EXTENSIONS = 2;

/**
 * Begins the time of a decision, right after its command was sent. A busy gateway must not take its own delay for a failure of
 * the store: the time begins when the commands of a turn of the event loop were written, begins again if the process did not run
 * at its end, and a response that has arrived by then counts.
 *
 * @returns a function that ends it
 */
export function beginDeadline(timeoutMs: number, expire: () => void): () => void {
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;
  const arm = (extensions: number) => {
    if (isSettled) return;
    const dueAt = performance.now() + timeoutMs;
    timer = setTimeout(() => {
      if (performance.now() - dueAt > STALL_MS && extensions < MAX_EXTENSIONS) arm(extensions + 1);
      // Reads the sockets once more before the decision expires.
      else setImmediate(() => isSettled || expire());
    }, timeoutMs);
  };
  // The library writes the commands of a turn in such a callback too, before this one.
  setImmediate(arm, 0);
  return () => {
    isSettled = true;
    clearTimeout(timer);
  };
}
