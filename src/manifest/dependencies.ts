import { createHash } from 'node:crypto';
import { expandGlob } from './file-glob.ts';
import type { Environment } from './source.ts';

/**
 * The files that a manifest names, by their paths as it writes them, with the SHA-256 of what was read from each in
 * hex; empty for one that could not be read.
 */
export type FileHashes = ReadonlyMap<string, string>;

/** Everything that a manifest was made of beside its own text. */
export interface Dependencies {
  readonly files: FileHashes;
  /** The patterns of files that it writes, with the paths that each stood for, one a line. */
  readonly globs: ReadonlyMap<string, string>;
}

/** A world of which it is kept what was taken from it. */
export interface TrackedEnvironment extends Environment {
  /** The files that a pattern stands for. */
  readonly expandGlob: (pattern: string) => readonly string[];
}

/** All files of one manifest together have no more characters: it may name hundreds. */
export const MAX_ALL_CHARACTERS = 25_000_000;

/** The world as it is, and what is taken from it. */
export function trackDependencies(world: Environment): { dependencies: Dependencies; world: TrackedEnvironment } {
  const files = new Map<string, string>();
  const globs = new Map<string, string>();
  let characters = 0;
  return {
    dependencies: { files, globs },
    world: {
      ...world,
      readFile(path) {
        files.set(path, '');
        if (characters > MAX_ALL_CHARACTERS) throw fileSizeError();
        const text = world.readFile(path);
        characters += text.length;
        files.set(path, sha256(text));
        return text;
      },
      expandGlob(pattern) {
        const found = expandGlob(pattern, world);
        globs.set(pattern, found.join('\n'));
        return found;
      },
    },
  };
}

export function fileSizeError(): Error {
  const message = `the files of the manifest have more than ${MAX_ALL_CHARACTERS} characters`;
  return Object.assign(new Error(message), { code: 'EFBIG' });
}

/** What is not any more what it was: files, and patterns that stand for other ones. */
export function changedDependencies({ files, globs }: Dependencies, world: Environment): string[] {
  const changed = [...files].filter(([path, seen]) => hashOf(path, world.readFile) !== seen);
  const moved = [...globs].filter(([pattern, seen]) => expandGlob(pattern, world).join('\n') !== seen);
  return [...changed, ...moved].map(([name]) => name);
}

function hashOf(path: string, readFile: Environment['readFile']): string {
  try {
    return sha256(readFile(path));
  } catch {
    return '';
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
