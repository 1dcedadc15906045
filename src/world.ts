import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { World } from './manifest/source.ts';

/** The file system and the environment, as a manifest in this file sees them. */
export function worldOf(manifestPath: string, env: World['env']): World {
  const folder = dirname(resolve(manifestPath));
  return {
    env,
    readFile: (path) => readRegular(resolve(folder, path)),
    listFolder: (path) => readdirSync(resolve(folder, path)),
  };
}

/**
 * Reads a file that is one, or a folder's `EISDIR`: a pipe is waited for without end, which no thread can be ended in, and a
 * device may have no end.
 */
export function readRegular(path: string): string {
  // Without it, to open a pipe waits for who writes.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() && !stat.isDirectory())
      throw Object.assign(new Error(`${path} is no regular file`), { code: 'no regular file' });
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
