import { createHash } from 'node:crypto';
import { filesOf } from './pattern-of-files.ts';
import type { World } from './source.ts';

/**
 * The files that a manifest names, by their paths as it writes them, with the SHA-256 of what was read from each in
 * hex; empty for one that could not be read.
 */
export type Files = ReadonlyMap<string, string>;

/** Everything that a manifest was made of beside its own text. */
export interface Outside {
  readonly files: Files;
  /** The patterns of files that it writes, with the paths that each stood for, one a line. */
  readonly patterns: ReadonlyMap<string, string>;
}

/** A world of which it is kept what was taken from it. */
export interface Kept extends World {
  /** The files that a pattern stands for. */
  readonly filesOf: (pattern: string) => readonly string[];
}

/** All files of one manifest together have no more characters: it may name hundreds. */
export const MAX_ALL_CHARACTERS = 25_000_000;

/** The world as it is, and what is taken from it. */
export function keepOutside(world: World): { outside: Outside; world: Kept } {
  const files = new Map<string, string>();
  const patterns = new Map<string, string>();
  let characters = 0;
  return {
    outside: { files, patterns },
    world: {
      ...world,
      readFile(path) {
        files.set(path, '');
        if (characters > MAX_ALL_CHARACTERS) throw tooMuch();
        const text = world.readFile(path);
        characters += text.length;
        files.set(path, sha256(text));
        return text;
      },
      filesOf(pattern) {
        const found = filesOf(pattern, world);
        patterns.set(pattern, found.join('\n'));
        return found;
      },
    },
  };
}

export function tooMuch(): Error {
  const message = `the files of the manifest have more than ${MAX_ALL_CHARACTERS} characters`;
  return Object.assign(new Error(message), { code: 'EFBIG' });
}

/** What is not any more what it was: files, and patterns that stand for other ones. */
export function changedOutside({ files, patterns }: Outside, world: World): string[] {
  const changed = [...files].filter(([path, seen]) => hashOf(path, world.readFile) !== seen);
  const moved = [...patterns].filter(([pattern, seen]) => filesOf(pattern, world).join('\n') !== seen);
  return [...changed, ...moved].map(([name]) => name);
}

function hashOf(path: string, readFile: World['readFile']): string {
  try {
    return sha256(readFile(path));
  } catch {
    return '';
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
