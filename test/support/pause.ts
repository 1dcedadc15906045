import { setTimeout } from 'node:timers/promises';

/**
 * Resolves after a delay that is the subject of a test: a slow client, a late response, a timeout that must not expire. To
 * wait for an effect, use `eventually`, and to let this process handle what has arrived, use `turns`.
 */
export function pause(ms: number): Promise<void> {
  return setTimeout(ms, undefined);
}

/** Resolves with the promise, or with `undefined` if it takes longer than this time. The timer does not keep the process alive. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, setTimeout(ms, undefined, { ref: false })]);
}

/**
 * Resolves after this many turns of the event loop. In each one, this process reads what has arrived on its sockets, so a test
 * whose client, gateway and upstream share the process needs no time: bytes take two or three turns from one to the next.
 */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A sender that backpressure stops makes no progress for this long. */
const STABLE_MS = 200;
const INTERVAL_MS = 10;

/**
 * Returns a number of sent bytes once backpressure has stopped the sender.
 *
 * @param round resolves when the receiving process has handled its events. A busy machine may not run that process for longer
 *   than any delay, so the delay alone shows nothing
 */
export async function stoppedCount(count: () => number, round: () => Promise<unknown>): Promise<number> {
  for (let last = 0, stableMs = 0; ; stableMs += INTERVAL_MS) {
    if (stableMs >= STABLE_MS) return last;
    await pause(INTERVAL_MS);
    await round();
    const now = count();
    if (now === last && now > 0) continue;
    last = now;
    stableMs = 0;
  }
}

/** Stops the time limits of this process for `vi.useFakeTimers`. */
export const TIME_LIMITS = { toFake: ['setTimeout', 'clearTimeout'] as ('setTimeout' | 'clearTimeout')[] };
