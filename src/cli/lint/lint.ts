import { fixText } from '../../lint/fix-text.ts';
import { lint as advise } from '../../lint/lint.ts';
import { checkOnline } from '../../lint/online-checks.ts';
import { RULES } from '../../lint/rule-table.ts';
import { unifiedDiff } from '../../lint/unified-diff.ts';
import { load } from '../../load.ts';
import { createFileEnvironment } from '../../manifest/file-environment.ts';
import { displayPathBeside } from '../../manifest/include.ts';
import type { Source } from '../../manifest/source.ts';
import { explainRule } from '../explain-rule.ts';
import { paint, pluralize } from '../format.ts';
import { readSource, readStandardInput } from '../manifest-file.ts';
import type { Terminal, Verb } from '../terminal.ts';
import { version } from '../version.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { newProblems, writeBaseline } from './baseline.ts';
import { LINT_OPTIONS, type LintArguments, parseLintArguments } from './lint-arguments.ts';
import { writeOutputs } from './outputs.ts';
import { countOf, isFailing, type LintReport } from './reporters/lint-report.ts';

const RULES_BY_ID = new Map(RULES.map((rule) => [rule.id, rule]));

export const lint: Verb = {
  usage: 'signing-gateway lint [FILE …] [OPTIONS]',
  options: LINT_OPTIONS,
  examples: [
    'signing-gateway lint deploy/gateway.yaml --fail-on warning',
    'signing-gateway lint -f sarif -o lint.sarif -f github    for code scanning, and as annotations',
    'signing-gateway lint --fix --dry-run                     the patch of what can be mended',
    'signing-gateway lint - < gateway.yaml                    what comes by the standard input',
  ],
  async run(terminal) {
    const call = parseLintArguments(terminal.args);
    if (call.explain !== undefined) {
      terminal.out(explainRule(call.explain));
      return 0;
    }
    const written = call.files.map((file) => (file === '-' ? readStandardInput() : readSource(file)));
    if (call.fix === 'show') return showPatches(written, call, terminal);
    const sources = call.fix === 'write' ? written.map((source) => fixFiles(source, call, terminal)) : written;
    const checks = await Promise.all(sources.map((source) => check(source, call, terminal)));
    const all = {
      sources: checks.flatMap((checked) => checked.sources),
      problems: checks.flatMap(({ problems }) => problems),
      failOn: call.failOn,
      rules: RULES_BY_ID,
      version,
    };
    if (call.isBaselineWrite) writeBaseline(call.baseline ?? '', all);
    const report = call.baseline === undefined ? all : { ...all, problems: newProblems(call.baseline, all) };
    writeOutputs(call.outputs, report, terminal);
    const isFailed = report.problems.some((problem) => isFailing(problem, report)) || exceedsMaxWarnings(report, call);
    terminal.err(
      formatSummary(
        report,
        all,
        checks.reduce((sum, { routes }) => sum + routes, 0),
        isFailed,
        terminal,
      ),
    );
    return isFailed ? 1 : 0;
  },
};

async function check(source: Source, { preset, isOnline }: LintArguments, { env }: Terminal) {
  const checked = load(source, createFileEnvironment(source.path, env));
  const extraFindings = isOnline && checked.plan !== undefined ? await checkOnline(checked) : [];
  const routes = checked.plan?.routes.length ?? 0;
  return { sources: checked.sources, problems: advise(checked, { preset, extraFindings }), routes };
}

/** A manifest and what it includes, before and after what can be mended was. */
function* fixSources(source: Source, { preset }: LintArguments, { env }: Terminal) {
  const { path } = source;
  const world = createFileEnvironment(path, env);
  const texts = new Map([[path, source.text]]);
  const readFile = (name: string) => texts.get(displayPathBeside(path, name)) ?? world.readFile(name);
  const readNow = () => load({ path, text: texts.get(path) ?? '' }, { ...world, readFile });
  for (const before of readNow().sources) {
    const { text, editCount: edits } = fixText(before.text, (next) => {
      texts.set(before.path, next);
      return advise(readNow(), { preset }).filter(({ file }) => file === before.path);
    });
    texts.set(before.path, text);
    yield { before, text, edits };
  }
}

/** Answers the manifest as it is now. */
function fixFiles(source: Source, call: LintArguments, terminal: Terminal): Source {
  const [own = { text: source.text }] = [...fixSources(source, call, terminal)].map(
    ({ before: { path }, text, edits }) => {
      if (edits > 0) {
        writeFileAtomic(path, text);
        terminal.err(`${pluralize(edits, 'problem')} mended in ${path}\n`);
      }
      return { text };
    },
  );
  return { ...source, ...own };
}

/** Exits with 1 when there is something to mend, so that a check can be made of it. */
function showPatches(sources: readonly Source[], call: LintArguments, terminal: Terminal): 0 | 1 {
  const patches = sources.flatMap((source) =>
    [...fixSources(source, call, terminal)].map(({ before, text }) => unifiedDiff(before.path, before.text, text)),
  );
  terminal.out(patches.join(''));
  return patches.some((patch) => patch !== '') ? 1 : 0;
}

function exceedsMaxWarnings(report: LintReport, { maxWarnings }: LintArguments): boolean {
  return countOf(report, 'warning') > maxWarnings;
}

function formatSummary(
  report: LintReport,
  all: LintReport,
  routes: number,
  isFailed: boolean,
  { errColour }: Terminal,
): string {
  const names = report.sources.map(({ path }) => path).join(', ');
  const known = all.problems.length - report.problems.length;
  const aside = known === 0 ? '' : `; ${pluralize(known, 'known problem')} not shown`;
  if (report.problems.length === 0)
    return `${paint('no problems', 'green', errColour)} in ${names}: ${pluralize(routes, 'route')}${aside}\n`;
  const counts = (['error', 'warning', 'info'] as const)
    .map((severity) => [countOf(report, severity), severity] as const)
    .filter(([number]) => number > 0)
    .map(([number, severity]) => pluralize(number, severity));
  const total = paint(pluralize(report.problems.length, 'problem'), isFailed ? 'red' : 'yellow', errColour);
  return `${total} in ${names}: ${counts.join(', ')}${aside}\n`;
}
