import { dirname, resolve } from 'node:path';
import { changedOutside, type Outside, sha256 } from '../manifest/files.ts';
import { foldersOf } from '../manifest/pattern-of-files.ts';
import type { Files } from '../world.ts';

/** What was found when the files were looked at last. */
export interface Seen {
  /** SHA-256 of the manifest's own text in hex; empty when it could not be read. */
  readonly own: string;
  readonly outside: Outside;
}

/** The files of a manifest, and how they are looked at. */
export interface Place {
  readonly path: string;
  readonly world: Files;
}

/** What is not any more what it was. */
export function changedSince({ own, outside }: Seen, place: Place): string[] {
  return [...(ownHash(place) === own ? [] : [place.path]), ...changedOutside(outside, place.world)];
}

/** All that is to be watched: files, and folders in which files may come and go. */
export function watchedBy({ outside }: Seen, { path, world }: Place): { files: string[]; folders: string[] } {
  const folder = dirname(resolve(path));
  const inFolder = (name: string) => resolve(folder, name);
  return {
    files: [resolve(path), ...[...outside.files.keys()].map(inFolder)],
    folders: [...new Set([...outside.patterns.keys()].flatMap((pattern) => foldersOf(pattern, world)))].map(inFolder),
  };
}

/** When each file was written last, as one text: another one says that something was written. */
export function timesOf(seen: Seen, place: Place): { readonly text: string; readonly latestMs: number } {
  const times = watchedBy(seen, place).files.map(place.world.modifiedMs);
  return { text: times.join(), latestMs: Math.max(...times) };
}

/** SHA-256 of a manifest's own text in hex; empty when it cannot be read. */
export function ownHash({ path, world }: Place): string {
  try {
    return sha256(world.readFile(resolve(path)));
  } catch {
    return '';
  }
}
