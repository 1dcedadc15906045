import { dirname, resolve } from 'node:path';
import { changedDependencies, type Dependencies, sha256 } from '../manifest/dependencies.ts';
import type { FileEnvironment } from '../manifest/file-environment.ts';
import { globFolders } from '../manifest/file-glob.ts';

/** What was found when the files were looked at last. */
export interface FileSnapshot {
  /** SHA-256 of the manifest's own text in hex; empty when it could not be read. */
  readonly manifestHash: string;
  readonly dependencies: Dependencies;
}

/** The files of a manifest, and how they are looked at. */
export interface ManifestFiles {
  readonly path: string;
  readonly environment: FileEnvironment;
}

/** What is not any more what it was. */
export function changesSince({ manifestHash, dependencies }: FileSnapshot, place: ManifestFiles): string[] {
  return [
    ...(hashManifest(place) === manifestHash ? [] : [place.path]),
    ...changedDependencies(dependencies, place.environment),
  ];
}

/** All that is to be watched: files, and folders in which files may come and go. */
export function pathsToWatch(
  { dependencies }: FileSnapshot,
  { path, environment }: ManifestFiles,
): { files: string[]; folders: string[] } {
  const folder = dirname(resolve(path));
  const inFolder = (name: string) => resolve(folder, name);
  return {
    files: [resolve(path), ...[...dependencies.files.keys()].map(inFolder)],
    folders: [...new Set([...dependencies.globs.keys()].flatMap((pattern) => globFolders(pattern, environment)))].map(
      inFolder,
    ),
  };
}

/** When each file was written last, as one text: another one says that something was written. */
export function modificationTimesOf(
  seen: FileSnapshot,
  place: ManifestFiles,
): { readonly text: string; readonly latestMs: number } {
  const times = pathsToWatch(seen, place).files.map(place.environment.modifiedMs);
  return { text: times.join(), latestMs: Math.max(...times) };
}

/** SHA-256 of a manifest's own text in hex; empty when it cannot be read. */
export function hashManifest({ path, environment }: ManifestFiles): string {
  try {
    return sha256(environment.readFile(resolve(path)));
  } catch {
    return '';
  }
}
