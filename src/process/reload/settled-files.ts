import { setTimeout as pause } from 'node:timers/promises';
import { changesSince, type FileSnapshot, type ManifestFiles, modificationTimesOf } from './file-snapshot.ts';

/** Editors write a file in several steps. Steps less than this apart count as one save. */
export const SETTLE_MS = 50;

/**
 * Waits until no file was written for `SETTLE_MS`: half a file may be a valid manifest.
 *
 * @param isOver returns true when it is too late to wait any longer
 * @returns the modification times of all files
 */
export async function waitUntilSettled(
  snapshot: FileSnapshot,
  files: ManifestFiles,
  isOver: () => boolean,
): Promise<string> {
  for (;;) {
    const { text, latestMs } = modificationTimesOf(snapshot, files);
    const age = Date.now() - latestMs;
    // A negative age means that the clock was set back; waiting for it could take hours.
    if (age < 0 || age >= SETTLE_MS || isOver()) return text;
    await pause(SETTLE_MS - age);
  }
}

/**
 * True if no file changed while a reload read the files, so that the plan never mixes two saves.
 *
 * @param read the files that were read
 * @param previous the files of the previous reload
 * @param times the modification times of `previous` when this reload started
 */
export function isConsistent(read: FileSnapshot, files: ManifestFiles, previous: FileSnapshot, times: string): boolean {
  return modificationTimesOf(previous, files).text === times && changesSince(read, files).length === 0;
}
