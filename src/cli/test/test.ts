import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from '../../load.ts';
import { createFileEnvironment, readText } from '../../manifest/file-environment.ts';
import type { Source } from '../../manifest/source.ts';
import { toProblems } from '../../problem/problem.ts';
import { coverageOf, summarizeCoverage } from '../../testing/coverage.ts';
import { manifestProblem, readTestFile } from '../../testing/read-test-file.ts';
import { runTestFile } from '../../testing/run-test-file.ts';
import { findUnknownReferences } from '../../testing/unknown-references.ts';
import { formatProblems } from '../format.ts';
import { readSource, unreadableFileError } from '../manifest-file.ts';
import { CommandError, type ExitCode, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { formatJunit } from './test-junit.ts';
import { formatCoverage, formatTestText } from './test-text.ts';
import { waitForChange } from './wait-for-change.ts';

const DEFAULT_TEST_FILE = 'gateway.test.yaml';
const FORMATS = { text: formatTestText, junit: formatJunit } as const;

const OPTIONS = {
  'fail-under': {
    type: 'string',
    valueName: 'PERCENT',
    summary: 'exit with 1 if the coverage of the manifest is below this',
  },
  format: {
    type: 'string',
    short: 'f',
    valueName: 'FORMAT',
    choices: Object.keys(FORMATS),
    summary: 'text (default) or junit',
  },
  watch: { type: 'boolean', summary: 'run again when the test file or its manifest changes' },
  config: {
    type: 'string',
    short: 'c',
    valueName: 'FILE',
    summary: 'use this manifest instead of the one that the test file names',
  },
} as const satisfies Options;

export const test: Verb = {
  usage: 'signing-gateway test [TEST-FILE] [-c FILE] [--fail-under PERCENT] [-f text|junit] [--watch]',
  options: OPTIONS,
  examples: [
    'signing-gateway test test/gateway.test.yaml --fail-under 90',
    'signing-gateway test -f junit > report.xml',
  ],
  async run(terminal) {
    const { values, positionals } = parseArgs({ args: [...terminal.args], allowPositionals: true, options: OPTIONS });
    const [path = DEFAULT_TEST_FILE, ...more] = positionals;
    if (more.length > 0)
      throw new UsageError(`expected one test file, got ${positionals.length}: ${positionals.join(', ')}`);
    const options = {
      path,
      manifest: values.config,
      failUnder: parsePercent(values['fail-under']),
      format: parseFormat(values.format),
    };
    return values.watch ? watch(options, terminal) : runOnce(options, terminal);
  },
};

interface TestOptions {
  readonly path: string;
  /** Replaces the manifest that the test file names. */
  readonly manifest: string | undefined;
  readonly failUnder: number;
  readonly format: keyof typeof FORMATS;
}

function parsePercent(text = '0'): number {
  if (/^\d{1,3}(?:\.\d+)?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UsageError(`--fail-under takes a number from 0 to 100, not "${text}"`);
}

function parseFormat(text = 'text'): keyof typeof FORMATS {
  if (Object.hasOwn(FORMATS, text)) return text as keyof typeof FORMATS;
  throw new UsageError(`unknown format "${text}"; use one of: ${Object.keys(FORMATS).join(', ')}`);
}

/**
 * Runs the test file once.
 *
 * @param files receives the text of each file by its path, or `undefined` if the file could not be read
 */
async function runOnce(
  options: TestOptions,
  terminal: Terminal,
  files = new Map<string, string | undefined>(),
): Promise<ExitCode> {
  const { path, format, failUnder } = options;
  const { out, err, outColour, errColour } = terminal;
  files.set(path, undefined);
  const text = readTestText(path);
  files.set(path, text);
  const { testFile, problems } = readTestFile({ path, text });
  if (testFile === undefined) {
    err(formatProblems(problems, text, errColour));
    return 1;
  }
  const manifest = options.manifest ?? join(dirname(path), testFile.testFile.manifest);
  files.set(manifest, undefined);
  const source = options.manifest === undefined ? readNamedManifest(manifest) : readSource(manifest);
  if ('code' in source) {
    err(formatProblems(manifestProblem(testFile, source.code), text, errColour));
    return 1;
  }
  const loaded = load(source, createFileEnvironment(manifest, testFile.testFile.environment));
  for (const source of loaded.sources) files.set(source.path, source.text);
  if (loaded.plan === undefined) {
    err(formatProblems(loaded.problems, loaded.sources, errColour));
    return 1;
  }
  const referenceProblems = toProblems(findUnknownReferences(testFile.testFile, loaded), testFile.document);
  if (referenceProblems.length > 0) {
    err(formatProblems(referenceProblems, text, errColour));
    return 1;
  }
  const results = await runTestFile(testFile.testFile, loaded);
  const coverage = summarizeCoverage(coverageOf(loaded, results));
  out(FORMATS[format]({ path, testFile, results, coverage }, outColour));
  if (format !== 'text') err(formatCoverage(coverage));
  const isLow = coverage.percent < failUnder;
  if (isLow) err(`coverage is below ${failUnder} %; add test cases or lower --fail-under\n`);
  return isLow || results.some(({ mismatches }) => mismatches.length > 0) ? 1 : 0;
}

/** Runs the test file again after each change, until the process must stop. */
async function watch(options: TestOptions, terminal: Terminal): Promise<ExitCode> {
  for (;;) {
    const files = new Map<string, string | undefined>();
    const code = await runOnce(options, terminal, files).catch((error: unknown): ExitCode => {
      // A missing file may come back, so keep watching.
      if (!(error instanceof CommandError)) throw error;
      terminal.err(`${error.message}\n`);
      return 2;
    });
    if (terminal.stop.aborted) return code;
    terminal.err('waiting for changes\n');
    await waitForChange(files, terminal.stop);
    if (terminal.stop.aborted) return code;
  }
}

/** Reads the manifest that a test file names. If it cannot be read, returns the code of the error. */
function readNamedManifest(path: string): Source | { readonly code: string } {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
  }
}

function readTestText(path: string): string {
  try {
    return readText(path);
  } catch (error) {
    throw unreadableFileError(
      path,
      error,
      `name a test file, or run the command in the folder of ${DEFAULT_TEST_FILE}`,
    );
  }
}
