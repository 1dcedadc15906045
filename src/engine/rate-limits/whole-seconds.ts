/** The rounding errors of the counters are smaller, in milliseconds. */
const TOLERANCE_MS = 0.001;

/** Returns the seconds of a time to wait, rounded up, and at least 1. */
export function wholeSeconds(ms: number): number {
  return Math.max(Math.ceil((ms - TOLERANCE_MS) / 1_000), 1);
}
