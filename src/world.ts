import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { World } from './manifest/source.ts';

/** The file system and the environment, as a manifest in this file sees them. */
export function worldOf(manifestPath: string, env: World['env']): World {
  const folder = dirname(resolve(manifestPath));
  return {
    env,
    readFile: (path) => readFileSync(resolve(folder, path), 'utf8'),
    listFolder: (path) => readdirSync(resolve(folder, path)),
  };
}
