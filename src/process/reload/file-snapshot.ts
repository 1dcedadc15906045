import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { changedDependencies, type Dependencies, globFolders, sha256 } from '../../engine/manifest/dependencies.ts';
import type { FileEnvironment } from '../../engine/manifest/source.ts';

/** The hashes of the manifest and of the files and patterns that it names, at one time. */
export interface FileSnapshot {
  /** SHA-256 of the manifest's own text in hex; empty if it cannot be read. */
  readonly manifestHash: string;
  readonly dependencies: Dependencies;
}

/** The path of a manifest, and access to its files. */
export interface ManifestFiles {
  readonly path: string;
  readonly environment: FileEnvironment;
}

/** Returns the files and patterns that have changed since the snapshot. */
export function changesSince({ manifestHash, dependencies }: FileSnapshot, files: ManifestFiles): string[] {
  return [
    ...(hashManifest(files) === manifestHash ? [] : [files.path]),
    ...changedDependencies(dependencies, files.environment),
  ];
}

/** Returns the files to watch, and the folders in which a new file may match a pattern. */
export function pathsToWatch(
  { dependencies }: FileSnapshot,
  { path, environment }: ManifestFiles,
): { files: string[]; folders: string[] } {
  const folder = dirname(resolve(path));
  const inFolder = (name: string) => resolve(folder, name);
  return {
    files: [resolve(path), ...[...dependencies.files.keys(), ...dependencies.secretFiles.keys()].map(inFolder)],
    folders: [...new Set([...dependencies.globs.keys()].flatMap((pattern) => globFolders(pattern, environment)))].map(
      inFolder,
    ),
  };
}

/** Returns the modification times of all files, as one text to compare, and the latest of them. */
function modificationTimesOf(
  snapshot: FileSnapshot,
  files: ManifestFiles,
): { readonly text: string; readonly latestMs: number } {
  const times = pathsToWatch(snapshot, files).files.map(files.environment.modifiedMs);
  return { text: times.join(), latestMs: Math.max(...times) };
}

/** Returns the SHA-256 of a manifest's own text in hex; empty if it cannot be read. */
export function hashManifest({ path, environment }: ManifestFiles): string {
  try {
    return sha256(environment.readFile(resolve(path)));
  } catch {
    return '';
  }
}

/** Editors write a file in several steps. Steps less than this apart count as one save. */
export const SETTLE_MS = 50;

/** Waits until no file was written for `SETTLE_MS`, or `isOver`: half a file may be valid. Returns all modification times. */
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

/** True if no file changed since a reload started, so that the plan never mixes two saves. `times` are those of `previous` at its start. */
export function isConsistent(read: FileSnapshot, files: ManifestFiles, previous: FileSnapshot, times: string): boolean {
  return modificationTimesOf(previous, files).text === times && changesSince(read, files).length === 0;
}
