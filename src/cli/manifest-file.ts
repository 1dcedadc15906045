import { readFileSync } from 'node:fs';
import { type Loaded, load } from '../load.ts';
import type { World } from '../manifest/source.ts';
import { worldOf } from '../reload.ts';
import { WorkError } from './terminal.ts';

export const DEFAULT_MANIFEST = 'gateway.yaml';

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
