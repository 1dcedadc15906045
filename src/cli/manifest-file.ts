import { relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { type LoadResult, load } from '../load.ts';
import { createFileEnvironment, readText, readUpToLimit } from '../manifest/file-environment.ts';
import { type Environment, MAX_FILE_BYTES, type Source } from '../manifest/source.ts';
import { CommandError, type Options, UsageError } from './terminal.ts';

const DEFAULT_MANIFEST = 'gateway.yaml';

export const MANIFEST_OPTIONS = {
  config: {
    type: 'string',
    short: 'c',
    multiple: true,
    valueName: 'FILE',
    summary: 'the manifest, as FILE alone says it',
  },
} as const satisfies Options;

/** The manifest that a verb is called with, as `FILE` or as `-c FILE`, and which of its flags were given. */
export function parseSingleManifestArguments<Known extends Options>(
  args: readonly string[],
  options: Known,
): { file: string; given: ReadonlySet<keyof Known> } {
  const { files, given } = parseManifestArguments(args, options);
  return { file: chooseManifest(files), given };
}

/** The manifests that a verb is called with, which of its options were given, and all of it in the order of the call. */
export function parseManifestArguments<Known extends Options>(args: readonly string[], options: Known) {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    tokens: true,
    options: { ...(options as Options), ...MANIFEST_OPTIONS },
  });
  const files = [...(values.config ?? []), ...positionals];
  const given: ReadonlySet<keyof Known> = new Set(tokens.map((token) => (token.kind === 'option' ? token.name : '')));
  return { files: files.length === 0 ? [DEFAULT_MANIFEST] : [...new Set(files.map(relativePath))], given, tokens };
}

/** The one manifest that was named, or the usual one. */
export function chooseManifest(named: readonly (string | undefined)[]): string {
  const files = named.filter((file) => file !== undefined);
  if (files.length > 1) throw new UsageError(`one manifest at a time: ${files.join(', ')}`);
  return files[0] ?? DEFAULT_MANIFEST;
}

/** Services that read reports know files by their paths from the folder that all is run in. */
function relativePath(path: string): string {
  const inside = relative('', path);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
  return isOutside ? path : inside.split(sep).join('/');
}

/** Reads and loads a manifest file. Throws a `WorkError` when it cannot be read. */
export function loadFile(path: string, env: Environment['env']): LoadResult & Source {
  const source = readSource(path);
  return { ...load(source, createFileEnvironment(path, env)), ...source };
}

const STANDARD_INPUT = 0;

/** Reads what comes by the standard input. */
export function readStandardInput(): Source {
  return { path: '<stdin>', text: readUpToLimit(STANDARD_INPUT, 0, '<stdin>').toString('utf8') };
}

/** Reads a manifest file. Throws a `WorkError` when it cannot be read. */
export function readSource(path: string): Source {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    throw unreadableFileError(path, error, `name a manifest, or run where ${DEFAULT_MANIFEST} is`);
  }
}

/** That a file cannot be read, and what to do about it. */
export function unreadableFileError(path: string, error: unknown, remedy: string): CommandError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EFBIG')
    return new CommandError(`${path}: it is larger than ${MAX_FILE_BYTES} bytes; split it into several files`);
  const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
  return new CommandError(`${path}: ${reason}; ${remedy}`);
}
