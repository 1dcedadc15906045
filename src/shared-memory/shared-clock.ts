import { hrtime } from 'node:process';

/** `performance.now()` begins at another time in each thread. */
const OFFSET_MS = Number(hrtime.bigint()) / 1e6 - performance.now();

/** Returns the milliseconds of a clock that never goes back and is the same in all threads. */
export function sharedNow(): number {
  return performance.now() + OFFSET_MS;
}
