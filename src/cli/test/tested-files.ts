import { dirname, join } from 'node:path';
import { load, type PlannedManifest } from '../../engine/load.ts';
import {
  createFileEnvironment,
  type Environment,
  fileErrorCode,
  readText,
  type Source,
} from '../../engine/manifest/source.ts';
import { type Problem, toProblems } from '../../engine/problem/problem.ts';
import {
  type CheckedTestFile,
  findUnknownReferences,
  manifestProblem,
  readTestFile,
} from '../../prove/testing/read-test-file.ts';
import { formatProblems } from '../../report/text.ts';
import { readOrFail, readSource, requirePlan } from '../manifest-file.ts';
import { InvalidFileError, type Terminal } from '../terminal.ts';

export const DEFAULT_TEST_FILE = 'gateway.test.yaml';

export interface TestedFiles {
  readonly testFile: CheckedTestFile;
  readonly planned: PlannedManifest;
  readonly readFile: Environment['readFile'];
}

/**
 * Reads a test file and its manifest, or the one that replaces it. Throws an `InvalidFileError` if one of them has errors.
 * `files` receives the text of each file by its path, or `undefined` if the file could not be read.
 */
export function readTestedFiles(
  { path, manifest }: { readonly path: string; readonly manifest: string | undefined },
  terminal: Terminal,
  files: Map<string, string | undefined>,
): TestedFiles {
  files.set(path, undefined);
  const text = readTestText(path);
  files.set(path, text);
  const invalid = (problems: readonly Problem[]) =>
    new InvalidFileError(formatProblems(problems, text, terminal.errColour), 1);
  const { testFile, problems } = readTestFile({ path, text });
  if (testFile === undefined) throw invalid(problems);
  const manifestPath = manifest ?? join(dirname(path), testFile.testFile.manifest);
  files.set(manifestPath, undefined);
  const source = manifest === undefined ? tryReadSource(manifestPath) : readSource(manifestPath);
  if ('code' in source) throw invalid(manifestProblem(testFile, source.code));
  const environment = createFileEnvironment(manifestPath, testFile.testFile.environment);
  const loaded = load(source, environment);
  for (const { path, text } of loaded.sources) files.set(path, text);
  const planned = requirePlan(loaded, terminal);
  const unknown = toProblems(findUnknownReferences(testFile.testFile, planned), testFile.document);
  if (unknown.length > 0) throw invalid(unknown);
  return { testFile, planned, readFile: environment.readFile };
}

/** True if a file no longer has the text that `readTestedFiles` has read. */
export function haveChanged(files: ReadonlyMap<string, string | undefined>): boolean {
  return [...files].some(([path, text]) => {
    const source = tryReadSource(path);
    return ('code' in source ? undefined : source.text) !== text;
  });
}

/** Returns the code of the error if the file cannot be read. */
function tryReadSource(path: string): Source | { readonly code: string } {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    return { code: fileErrorCode(error) };
  }
}

function readTestText(path: string): string {
  const remedy = `name a test file, or run the command in the folder of ${DEFAULT_TEST_FILE}`;
  return readOrFail(path, remedy, () => readText(path));
}
