import { setTimeout as sleep } from 'node:timers/promises';
import { timerMs } from '../../engine/manifest/units.ts';
import { runMutants } from '../../prove/mutation/run-mutants.ts';
import { coverageOf, summarizeCoverage } from '../../prove/testing/coverage.ts';
import { runTestFile, type TestResult } from '../../prove/testing/run-test-file.ts';
import { showProgress } from '../logs/log-inputs.ts';
import { formatOption, parseFormat, parseLimit, valueOption } from '../parse-arguments.ts';
import { CommandError, defineVerb, type Options, type OptionValues, type Terminal, UsageError } from '../terminal.ts';
import { createMutationReport, DEFAULT_MAX_UNCOVERED, formatCoverage, formatScore } from './scores.ts';
import { TEST_FORMATS, type TestReport } from './test-formats.ts';
import { DEFAULT_TEST_FILE, haveChanged, readTestedFiles, type TestedFiles } from './tested-files.ts';

const OPTIONS = {
  'fail-under': valueOption(
    'PERCENT',
    'exit with 1 if the coverage, or with --mutate the mutation score, is below this',
  ),
  'max-uncovered': valueOption(
    'N',
    `print at most N lines of what no case covers (default ${DEFAULT_MAX_UNCOVERED}); 0 prints everything`,
  ),
  format: formatOption(TEST_FORMATS, 'text (default), junit or json'),
  json: { type: 'boolean', summary: 'the same as --format json' },
  mutate: {
    type: 'boolean',
    summary: 'also change the manifest in many ways, and print a case for each change that no case notices',
  },
  'max-time': valueOption('DURATION', 'with --mutate, end after this time (default 10m) and report the changes so far'),
  watch: { type: 'boolean', summary: 'run again when the test file or its manifest changes' },
  config: valueOption('FILE', 'use this manifest instead of the one that the test file names', { short: 'c' }),
} as const satisfies Options;

export const verb = defineVerb({
  usage:
    'signing-gateway test [TEST-FILE] [-c FILE] [--mutate] [--max-time DURATION] [--fail-under PERCENT] [--max-uncovered N] [-f text|junit|json | --json] [--watch]',
  options: OPTIONS,
  examples: [
    'signing-gateway test test/gateway.test.yaml --fail-under 90',
    'signing-gateway test --mutate --fail-under 100',
    'signing-gateway test -f junit > report.xml',
  ],
  async run(terminal, { values, positionals }) {
    const [path = DEFAULT_TEST_FILE, ...more] = positionals;
    if (more.length > 0)
      throw new UsageError(`expected one test file, got ${positionals.length}: ${positionals.join(', ')}`);
    const options = readOptions(path, values);
    return values.watch ? watch(options, terminal) : runOnce(options, terminal);
  },
});

type TestOptions = ReturnType<typeof readOptions>;

function readOptions(path: string, values: OptionValues<typeof OPTIONS>) {
  const { format = values.json ? 'json' : undefined } = values;
  if (values.json && format !== 'json')
    throw new UsageError(`--json and "--format ${format}" exclude each other; remove one`);
  return {
    path,
    manifest: values.config,
    failUnder: parsePercent(values['fail-under']),
    format: parseFormat(TEST_FORMATS, format),
    maxUncovered: parseLimit('max-uncovered', values['max-uncovered'], DEFAULT_MAX_UNCOVERED),
    mutate: values.mutate === true,
    maxMs: parseDuration(values['max-time']),
  };
}

function parsePercent(text = '0'): number {
  if (/^\d{1,3}(?:\.\d+)?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UsageError(`--fail-under takes a number from 0 to 100, not "${text}"`);
}

function parseDuration(text = '10m'): number {
  if (/^\d{1,9}(?:ms|s|m|h)$/.test(text)) return timerMs(text);
  throw new UsageError(`--max-time takes a duration such as 30s or 10m, not "${text}"`);
}

/** Runs the test file once. `files` receives the text of each file by its path, or `undefined` if it could not be read. */
async function runOnce(options: TestOptions, terminal: Terminal, files = new Map<string, string | undefined>()) {
  const tested = readTestedFiles(options, terminal, files);
  const { testFile, planned } = tested;
  const results = await runTestFile(testFile.testFile, planned);
  const coverage = summarizeCoverage(coverageOf(planned, results));
  const isPassed = results.every(({ mismatches }) => mismatches.length === 0);
  // A case that fails with the original manifest says nothing about a changed one.
  const mutation = options.mutate && isPassed ? await mutate(tested, results, options.maxMs, terminal) : undefined;
  const { path, failUnder, maxUncovered } = options;
  // A score of only some changes says nothing about the others.
  const isComplete = failUnder === 0 || mutation === undefined || mutation.untested === 0;
  const isEnough = coverage.percent >= failUnder && (mutation?.score ?? 100) >= failUnder && isComplete;
  print({ path, testFile, results, coverage, maxUncovered, mutation, isEnough }, options, terminal);
  return isEnough && isPassed && !(mutation?.isStopped && mutation.untested > 0) ? 0 : 1;
}

/** Tests the changed manifests until `maxMs` or a stop, and shows the progress on a terminal. */
async function mutate(
  { testFile, planned, readFile }: TestedFiles,
  results: readonly TestResult[],
  maxMs: number,
  terminal: Terminal,
) {
  const progress = showProgress(terminal);
  const signal = AbortSignal.any([terminal.stop, AbortSignal.timeout(maxMs)]);
  const onProgress = progress.working('changing the manifest');
  const result = await runMutants(testFile.testFile, planned, results, readFile, signal, onProgress);
  progress.end();
  return createMutationReport(result, planned.document, terminal.stop.aborted);
}

/** Prints the report, and the reasons of an exit code that the report does not show. */
function print(
  report: TestReport,
  { format, failUnder, mutate: isMutated }: TestOptions,
  { out, err, outColour }: Terminal,
): void {
  const { coverage, mutation } = report;
  out(TEST_FORMATS[format](report, outColour));
  if (format !== 'text')
    err(formatCoverage(coverage, report.maxUncovered) + (mutation === undefined ? '' : formatScore(mutation)));
  if (isMutated && mutation === undefined)
    err('the manifest was not changed, because cases fail; correct them first\n');
  if (coverage.percent < failUnder) err(`coverage is below ${failUnder} %; add test cases or lower --fail-under\n`);
  if (mutation !== undefined && mutation.untested > 0 && failUnder > 0)
    err('the mutation score is not known, because not all changes were tested; set a longer --max-time\n');
  else if (mutation !== undefined && mutation.score < failUnder)
    err(`the mutation score is below ${failUnder} %; add the cases above or lower --fail-under\n`);
}

const POLL_MS = 250;
/** Editors save in several steps. Changes within this time belong to one save. */
const SETTLE_MS = 50;

/** Runs the test file again after each change, until the process must stop. */
async function watch(options: TestOptions, terminal: Terminal) {
  for (;;) {
    const files = new Map<string, string | undefined>();
    const code = await runOnce(options, terminal, files).catch((error: unknown) => {
      // A missing file may come back, so keep watching.
      if (!(error instanceof CommandError)) throw error;
      terminal.err(`${error.message}\n`);
      return error.code;
    });
    if (terminal.stop.aborted) return code;
    terminal.err('waiting for changes\n');
    while (!haveChanged(files) && !terminal.stop.aborted) await sleep(POLL_MS);
    await sleep(SETTLE_MS);
    if (terminal.stop.aborted) return code;
  }
}
