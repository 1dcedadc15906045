/** The time that the work takes on two quiet cores of a current server. */
const QUIET_MS = 100;
const ROUNDS = 60_000_000;

/**
 * Returns how slow this machine is now: 1 on a quiet machine, 5 if it is five times slower or busy. Measures a fixed piece of
 * work by the clock, so that other processes count. `vitest.config.ts` calls it once for each run.
 */
export function measureSlowness(): number {
  const start = performance.now();
  let value = 1;
  for (let round = 0; round < ROUNDS; round += 1) value = Math.imul(value ^ round, 0x5bd1e995);
  // Uses the result, so that the compiler cannot remove the loop.
  return Math.max(1, (performance.now() - start + (value & 0)) / QUIET_MS);
}

/** Returns a limit on waiting, longer on a slow machine. Every limit that must not pass there uses it. */
export function scaledMs(ms: number): number {
  return Math.ceil(ms * Number(process.env['SLOWNESS'] ?? 1));
}
