import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Loaded, load } from '../load.ts';
import type { World } from '../manifest/source.ts';
import { WorkError } from './terminal.ts';

export const DEFAULT_MANIFEST = 'gateway.yaml';

/** The file system and the environment, as a manifest in this file sees them. */
export function worldOf(manifestPath: string, env: World['env']): World {
  const folder = dirname(resolve(manifestPath));
  return { env, readFile: (path) => readFileSync(resolve(folder, path), 'utf8') };
}

/** Reads and loads a manifest file. Throws a `WorkError` when it cannot be read. */
export function loadFile(path: string, env: World['env']): Loaded & { readonly text: string } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
    throw new WorkError(`${path}: ${reason}; name a manifest, or run where ${DEFAULT_MANIFEST} is`);
  }
  return { ...load({ path, text }, worldOf(path, env)), text };
}
