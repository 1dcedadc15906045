import { setTimeout as pause } from 'node:timers/promises';
import { changedSince, type Place, type Seen, timesOf } from './seen.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
export const SETTLE_MS = 50;

/**
 * Waits until nothing was written for a while: half a file may well be a manifest.
 *
 * @param isOver whether to wait no longer
 * @returns when each file was written last
 */
export async function settled(seen: Seen, place: Place, isOver: () => boolean): Promise<string> {
  for (;;) {
    const { text, latestMs } = timesOf(seen, place);
    const age = Date.now() - latestMs;
    // A clock that was set back is not waited for.
    if (age < 0 || age >= SETTLE_MS || isOver()) return text;
    await pause(SETTLE_MS - age);
  }
}

/**
 * Whether all that was read is still what is there, so that it was there at one time.
 *
 * @param read what was read
 * @param before what was found the last time, whose files were written last at these `times`
 */
export function isSteady(read: Seen, place: Place, before: Seen, times: string): boolean {
  return timesOf(before, place).text === times && changedSince(read, place).length === 0;
}
