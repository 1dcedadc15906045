import { statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { attempt } from '../engine/attempt.ts';
import { valueOption } from './parse-arguments.ts';
import { type Options, type OptionValues, UsageError } from './terminal.ts';

export const DEFAULT_MANIFEST = 'gateway.yaml';

export const SINGLE_MANIFEST_OPTIONS = {
  config: valueOption('FILE', `the manifest; the same as FILE (default ${DEFAULT_MANIFEST})`, { short: 'c' }),
} as const satisfies Options;

export const MANIFEST_OPTIONS = {
  config: { ...SINGLE_MANIFEST_OPTIONS.config, multiple: true },
} as const satisfies Options;

/** Returns the manifest that is named as `FILE` or `-c FILE`, or the default one. */
export function namedManifest(values: OptionValues<typeof MANIFEST_OPTIONS>, positionals: readonly string[]): string {
  return chooseManifest(namedManifests(values, positionals));
}

/** Returns the manifests that are named as `FILE` or `-c FILE`, or the default one. */
export function namedManifests({ config = [] }: OptionValues<typeof MANIFEST_OPTIONS>, positionals: readonly string[]) {
  const files = [...config, ...positionals];
  return files.length === 0 ? [DEFAULT_MANIFEST] : [...new Set(files.map((path) => relativePath(fileIn(path))))];
}

/** Returns the only named manifest, or the default one. */
export function chooseManifest(names: readonly (string | undefined)[]): string {
  const files = names.filter((file) => file !== undefined);
  if (files.length > 1) throw new UsageError(`expected one manifest, got ${files.length}: ${files.join(', ')}`);
  return fileIn(files[0] ?? DEFAULT_MANIFEST);
}

/** Returns the path of the manifest in a folder, and any other path as it is. */
export function fileIn(path: string): string {
  // An error appears again when the file is read.
  return attempt(() => statSync(path).isDirectory()) ? join(path, DEFAULT_MANIFEST) : path;
}

/** Returns the path relative to the working folder: CI systems match reports to files by this path. */
function relativePath(path: string): string {
  const inside = relative('', path);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
  return isOutside ? path : inside.split(sep).join('/') || '.';
}
