import { statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { type LoadResult, load, type PlannedManifest } from '../engine/load.ts';
import {
  createFileEnvironment,
  decodeText,
  describeFileError,
  type Environment,
  fileErrorCode,
  MAX_FILE_BYTES,
  readText,
  readUpToLimit,
  type Source,
} from '../engine/manifest/source.ts';
import { formatProblems } from '../report/text.ts';
import { valueOption } from './parse-arguments.ts';
import { CommandError, type Options, type OptionValues, type Terminal, UsageError } from './terminal.ts';

export const DEFAULT_MANIFEST = 'gateway.yaml';

/** The option of a verb that reads one manifest. */
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
export function namedManifests(
  { config = [] }: OptionValues<typeof MANIFEST_OPTIONS>,
  positionals: readonly string[],
): readonly string[] {
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
function fileIn(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, DEFAULT_MANIFEST) : path;
  } catch {
    // The error appears again when the file is read.
    return path;
  }
}

/** Returns the path relative to the working folder: CI systems match reports to files by this path. */
function relativePath(path: string): string {
  const inside = relative('', path);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
  return isOutside ? path : inside.split(sep).join('/') || '.';
}

/** Reads and loads a manifest file. Throws a `CommandError` if it cannot be read. */
export function loadFile(path: string, env: Environment['env']): LoadResult & Source {
  const source = readSource(path);
  return { ...load(source, createFileEnvironment(path, env)), ...source };
}

/** Reads and loads a manifest file. Prints the problems and returns `undefined` if it has errors. */
export function loadPlanned(
  path: string,
  { env, err, errColour }: Pick<Terminal, 'env' | 'err' | 'errColour'>,
): (PlannedManifest & Source) | undefined {
  const loaded = loadFile(path, env);
  if (loaded.plan !== undefined) return loaded;
  err(formatProblems(loaded.problems, loaded.sources, errColour));
  return undefined;
}

const STANDARD_INPUT = 0;

export function readStandardInput(): Source {
  return { path: '<stdin>', text: decodeText(readUpToLimit(STANDARD_INPUT, 0, '<stdin>')) };
}

/** Reads a manifest file. Throws a `CommandError` if it cannot be read. */
export function readSource(path: string): Source {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    const isMissing = fileErrorCode(error) === 'ENOENT';
    throw unreadableFileError(
      path,
      error,
      isMissing
        ? `create it with ${initCommand(path)}, or name another manifest`
        : `name a manifest, or run the command in the folder of ${DEFAULT_MANIFEST}`,
    );
  }
}

function initCommand(path: string): string {
  return `"signing-gateway init${path === DEFAULT_MANIFEST ? '' : ` ${path}`}"`;
}

/** Returns the result of reading a file. Throws a `CommandError` with the remedy if the file cannot be read. */
export function readOrFail<Result>(path: string, remedy: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableFileError(path, error, remedy);
  }
}

/** Creates the error for a file that cannot be read. `remedy` says what to do. */
export function unreadableFileError(
  path: string,
  error: unknown,
  remedy: string,
  maxBytes = MAX_FILE_BYTES,
): CommandError {
  const code = fileErrorCode(error);
  if (code === 'EFBIG') return new CommandError(`${path}: larger than ${maxBytes} bytes; split it into several files`);
  if (code === 'ENOENT') return new CommandError(`${path}: no such file; ${remedy}`);
  if (code === 'EISDIR') return new CommandError(`${path}: this is a folder; ${remedy}`);
  return new CommandError(`${path} cannot be read: ${describeFileError(code)}`);
}
