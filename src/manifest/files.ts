import { createHash } from 'node:crypto';
import type { World } from './source.ts';

/**
 * The files that a manifest names, by their paths as it writes them, with the SHA-256 of what was read from each in
 * hex; empty for one that could not be read.
 */
export type Files = ReadonlyMap<string, string>;

/** Reads as the world does, and keeps what was read. */
export function keepFiles(readFile: World['readFile']): { files: Files; readFile: World['readFile'] } {
  const files = new Map<string, string>();
  return {
    files,
    readFile(path) {
      files.set(path, '');
      const text = readFile(path);
      files.set(path, sha256(text));
      return text;
    },
  };
}

/** Whether one of the files is not any more what was read from it. */
export function haveChanged(files: Files, readFile: World['readFile']): boolean {
  for (const [path, seen] of files) if (hashOf(path, readFile) !== seen) return true;
  return false;
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
