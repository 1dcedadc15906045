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
import { DEFAULT_MANIFEST } from './named-manifest.ts';
import { CommandError, type ExitCode, InvalidFileError, type Terminal } from './terminal.ts';

/** Reads and loads a manifest file. Throws a `CommandError` if it cannot be read. */
export function loadFile(path: string, env: Environment['env']): LoadResult & Source {
  const source = readSource(path);
  return { ...load(source, createFileEnvironment(path, env)), ...source };
}

/** Reads and loads a manifest file. Throws an `InvalidFileError` with an exit code if it has errors. */
export function loadPlanned(path: string, terminal: Terminal, code: ExitCode = 1) {
  return requirePlan(loadFile(path, terminal.env), terminal, code);
}

/** Returns the manifest. Throws an `InvalidFileError` with its problems if it does not load. */
export function requirePlan<Loaded extends LoadResult>(loaded: Loaded, { errColour }: Terminal, code: ExitCode = 1) {
  const { plan, problems, sources } = loaded;
  if (plan === undefined) throw new InvalidFileError(formatProblems(problems, sources, errColour), code);
  return loaded as Extract<Loaded, PlannedManifest>;
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
export function readOrFail<Result>(
  path: string,
  remedy: string,
  read: () => Result,
  maxBytes = MAX_FILE_BYTES,
): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableFileError(path, error, remedy, maxBytes);
  }
}

/** Creates the error for a file that cannot be read. `remedy` says what to do. */
export function unreadableFileError(path: string, error: unknown, remedy: string, maxBytes = MAX_FILE_BYTES) {
  const code = fileErrorCode(error);
  if (code === 'EFBIG') return new CommandError(`${path}: larger than ${maxBytes} bytes; split it into several files`);
  if (code === 'ENOENT') return new CommandError(`${path}: no such file; ${remedy}`);
  if (code === 'EISDIR') return new CommandError(`${path}: this is a folder; ${remedy}`);
  return new CommandError(`${path} cannot be read: ${describeFileError(code)}`);
}

/** Loads a manifest and runs its self-test, for `run` and `lint`: a manifest without errors in `lint` is one that `run` serves. */
export async function loadTested(source: Source, environment: Environment) {
  const loaded = load(source, environment);
  if (loaded.plan === undefined || loaded.plan.reload.selfTest === undefined)
    return { loaded, selfTest: { problems: [], sources: [] } };
  // Imported lazily: the self-test loads the complete gateway, which `lint` otherwise does not need.
  const { runSelfTest } = await import('../prove/self-test.ts');
  return { loaded, selfTest: await runSelfTest(loaded, environment) };
}
