import { setTimeout as pause } from 'node:timers/promises';
import { changesSince, type FileSnapshot, type ManifestFiles, modificationTimesOf } from './file-snapshot.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
export const SETTLE_MS = 50;

/**
 * Waits until nothing was written for a while: half a file may well be a manifest.
 *
 * @param isOver whether to wait no longer
 * @returns when each file was written last
 */
export async function waitUntilSettled(
  seen: FileSnapshot,
  place: ManifestFiles,
  isOver: () => boolean,
): Promise<string> {
  for (;;) {
    const { text, latestMs } = modificationTimesOf(seen, place);
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
export function isConsistent(read: FileSnapshot, place: ManifestFiles, before: FileSnapshot, times: string): boolean {
  return modificationTimesOf(before, place).text === times && changesSince(read, place).length === 0;
}
