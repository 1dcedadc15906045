import { dirname, relative } from 'node:path';
import { fixText, unifiedDiff } from '../../check/lint/fix-text.ts';
import { lint } from '../../check/lint/lint.ts';
import { checkOnline } from '../../check/lint/online-checks.ts';
import { RULES } from '../../check/lint/rule-table.ts';
import { load } from '../../engine/load.ts';
import { createFileEnvironment, readText, type Source } from '../../engine/manifest/source.ts';
import { displayPathBeside } from '../../engine/problem/problem.ts';
import { isFailing } from '../../report/report.ts';
import { paint, pluralize } from '../../report/text.ts';
import { formatOverrides } from '../address-options.ts';
import { explainRule } from '../explain-rule.ts';
import { loadTested, readOrFail, readSource, readStandardInput } from '../manifest-file.ts';
import { defineVerb, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { newProblems, writeBaseline } from './baseline.ts';
import { LINT_OPTIONS, type LintArguments, readLintArguments, writeOutputs } from './lint-arguments.ts';
import { formatCounts, type LintReport } from './lint-formats.ts';

const RULES_BY_ID = new Map(RULES.map((rule) => [rule.id, rule]));

/** The build replaces this name with the value of its variable of the same name (scripts/build.ts). */
declare const DOCS_URL: string | undefined;

/** The address at which the folder `docs` is published. Undefined unless the build named one: the package has the pages itself. */
const docsUrl = typeof DOCS_URL === 'string' ? DOCS_URL : undefined;

export const verb = defineVerb({
  usage: 'signing-gateway lint [FILE...] [OPTIONS]',
  options: LINT_OPTIONS,
  examples: [
    'signing-gateway lint deploy/gateway.yaml --fail-on warning',
    'signing-gateway lint -f sarif -o lint.sarif -f github',
    'signing-gateway lint --fix --dry-run | git apply --allow-empty',
    'signing-gateway lint --invariants security/invariants.yaml services/*/gateway.yaml',
    'signing-gateway lint --listen 0.0.0.0:8080',
    'signing-gateway lint - < gateway.yaml',
  ],
  async run(terminal, given) {
    const options = readLintArguments(given);
    if (options.explain !== undefined) {
      terminal.out(explainRule(options.explain));
      return 0;
    }
    for (const file of options.invariantFiles) readOrFail(file, 'name a file with invariants', () => readText(file));
    const inputs = options.files.map((file) => (file === '-' ? readStandardInput() : readSource(file)));
    if (options.isDryRun) return showPatches(inputs, options, terminal);
    const sources = options.isFix ? inputs.map((source) => fixFiles(source, options, terminal)) : inputs;
    const { all, routes } = await lintSources(sources, options, terminal);
    const { newBaseline, baseline = newBaseline } = options;
    if (newBaseline !== undefined) writeBaseline(newBaseline, all);
    const report = baseline === undefined ? all : { ...all, problems: newProblems(baseline, all) };
    writeOutputs(options.outputs, report, terminal);
    const warnings = report.problems.filter(({ severity }) => severity === 'warning').length;
    const isFailed =
      report.problems.some((problem) => isFailing(problem, options.failOn)) || warnings > options.maxWarnings;
    const summary = formatSummary(report, all.problems.length, routes, isFailed, terminal.errColour);
    terminal.err(summary + formatOverrides(options.overrides));
    return isFailed ? 1 : 0;
  },
});

async function lintSources(sources: readonly Source[], options: LintArguments, terminal: Terminal) {
  const results = await Promise.all(sources.map((source) => lintSource(source, options, terminal)));
  const all: LintReport = {
    sources: results.flatMap((result) => result.sources),
    problems: results.flatMap(({ problems }) => problems),
    failOn: options.failOn,
    maxProblems: options.maxProblems,
    rules: RULES_BY_ID,
    version,
    docsUrl,
  };
  return { all, routes: results.reduce((sum, { routes }) => sum + routes, 0) };
}

async function lintSource(source: Source, options: LintArguments, { env }: Terminal) {
  const { preset, isOnline, overrides } = options;
  const invariantFiles = options.invariantFiles.map((file) => relative(dirname(source.path), file));
  const { loaded, selfTest } = await loadTested(source, {
    ...createFileEnvironment(source.path, env, overrides),
    invariantFiles,
  });
  const extraFindings = isOnline && loaded.plan !== undefined ? await checkOnline(loaded) : [];
  const routes = loaded.plan?.routes.length ?? 0;
  const sources = [...loaded.sources, ...(selfTest.problems.length === 0 ? [] : selfTest.sources)];
  return { sources, problems: [...lint(loaded, { preset, extraFindings }), ...selfTest.problems], routes };
}

/** Applies the safe fixes to a manifest and each file that it includes, and yields both texts. Writes nothing. */
function* fixSources(source: Source, { preset, overrides }: LintArguments, { env }: Terminal) {
  const { path } = source;
  const environment = createFileEnvironment(path, env, overrides);
  const texts = new Map([[path, source.text]]);
  const readFile = (name: string) => texts.get(displayPathBeside(path, name)) ?? environment.readFile(name);
  const loadFixed = () => load({ path, text: texts.get(path) ?? '' }, { ...environment, readFile });
  for (const before of loadFixed().sources) {
    const { text, editCount: edits } = fixText(before.text, (next) => {
      texts.set(before.path, next);
      return lint(loadFixed(), { preset }).filter(({ file }) => file === before.path);
    });
    texts.set(before.path, text);
    yield { before, text, edits };
  }
}

function fixFiles(source: Source, options: LintArguments, terminal: Terminal): Source {
  const [own = { text: source.text }] = [...fixSources(source, options, terminal)].map(
    ({ before: { path }, text, edits }) => {
      if (edits > 0) {
        writeFileAtomic(path, text);
        terminal.err(`${pluralize(edits, 'problem')} fixed in ${path}\n`);
      }
      return { text };
    },
  );
  return { ...source, ...own };
}

/** Prints the fixes as patches. Exits with 1 if there are any, so that CI can check for them. */
function showPatches(sources: readonly Source[], options: LintArguments, terminal: Terminal): 0 | 1 {
  const patches = sources.flatMap((source) =>
    [...fixSources(source, options, terminal)].map(({ before, text }) => unifiedDiff(before.path, before.text, text)),
  );
  terminal.out(patches.join(''));
  return patches.some((patch) => patch !== '') ? 1 : 0;
}

/** @param total the number of problems, with those that the baseline hides */
function formatSummary(
  { sources, problems }: LintReport,
  total: number,
  routes: number,
  isFailed: boolean,
  colour: boolean,
) {
  const names = sources.map(({ path }) => path).join(', ');
  const hidden = total - problems.length;
  const note = hidden === 0 ? '' : `; ${pluralize(hidden, 'problem')} in the baseline`;
  if (problems.length === 0)
    return `${paint('no problems', 'green', colour)} in ${names}: ${pluralize(routes, 'route')}${note}\n`;
  const count = paint(pluralize(problems.length, 'problem'), isFailed ? 'red' : 'yellow', colour);
  return `${count} in ${names}: ${formatCounts(problems)}${note}\n`;
}
