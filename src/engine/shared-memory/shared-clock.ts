/** Enough that one of them contains no pause. They take less than a millisecond. */
const SAMPLES = 100;

/** `performance.now()` begins at another time in each thread. */
const OFFSET_MS = measureOffsetMs();

/** Returns the milliseconds of a clock that never goes back and is the same in all threads, to less than a microsecond. */
export function sharedNow(): number {
  return performance.now() + OFFSET_MS;
}

/** The first use of a clock takes milliseconds, and any sample may contain a pause. The tightest bounds contain none. */
function measureOffsetMs(): number {
  let lowest = Number.NEGATIVE_INFINITY;
  let highest = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const before = process.hrtime.bigint();
    const now = performance.now();
    const after = process.hrtime.bigint();
    lowest = Math.max(lowest, Number(before) / 1e6 - now);
    highest = Math.min(highest, Number(after) / 1e6 - now);
  }
  return (lowest + highest) / 2;
}
