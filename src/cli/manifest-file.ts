import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Loaded, load } from '../load.ts';
import type { World } from '../manifest/source.ts';
import { UsageError, WorkError } from './terminal.ts';

const DEFAULT_MANIFEST = 'gateway.yaml';

/** The manifest that a verb is called with, as `FILE` or as `-c FILE`, and which of its flags were given. */
export function readArguments<Flag extends string = never>(
  args: readonly string[],
  flags: readonly Flag[] = [],
): { file: string; given: ReadonlySet<Flag> } {
  const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' as const }]));
  const config = { type: 'string', short: 'c' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, config },
  });
  const file = chooseManifest([values.config as string | undefined, ...positionals]);
  return { file, given: new Set(flags.filter((flag) => flag in values)) };
}

/** The one manifest that was named, or the usual one. */
export function chooseManifest(named: readonly (string | undefined)[]): string {
  const files = named.filter((file) => file !== undefined);
  if (files.length > 1) throw new UsageError(`one manifest at a time: ${files.join(', ')}`);
  return files[0] ?? DEFAULT_MANIFEST;
}

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
    throw unreadable(path, error, `name a manifest, or run where ${DEFAULT_MANIFEST} is`);
  }
  return { ...load({ path, text }, worldOf(path, env)), text };
}

/** That a file cannot be read, and what to do about it. */
export function unreadable(path: string, error: unknown, remedy: string): WorkError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
  return new WorkError(`${path}: ${reason}; ${remedy}`);
}
