import { RULES } from '../../check/lint/rule-table.ts';
import type { Source } from '../../engine/manifest/source.ts';
import type { Severity } from '../../engine/problem/finding.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { formatGithub, formatGitlab } from '../../report/annotations.ts';
import { withFingerprints } from '../../report/fingerprint.ts';
import { formatJunit, junitCaseOf } from '../../report/junit.ts';
import { formatMarkdown, markdownTable, tableCell } from '../../report/markdown.ts';
import { groupProblems } from '../../report/problem-groups.ts';
import { countSeverities, fullMessage, isFailing, placeOf, toJson } from '../../report/report.ts';
import { formatSarif } from '../../report/sarif.ts';
import { formatProblems, formatStylish, pluralize } from '../../report/text.ts';

/** The result of a lint run, which the formats print. */
export interface LintReport {
  /** The linted manifests, also those without problems. Each `path` equals the `file` of its problems and uses `/`. */
  readonly sources: readonly Source[];
  /** In the order of `sources`, and in reading order within each file. */
  readonly problems: readonly Problem[];
  /** The lowest severity that fails the run. */
  readonly failOn: Severity;
  /** The largest number of groups of equal problems in the formats for people. */
  readonly maxProblems: number;
  /** Each rule's rationale by rule id. Checks that are not rules, such as the schema, have no entry. */
  readonly rules: ReadonlyMap<string, { readonly rationale: string }>;
  /** The gateway's version. */
  readonly version: string;
  /** The address at which the folder `docs` is published, if it is known. */
  readonly docsUrl?: string | undefined;
}

/** Formats a report. The text is the same for the same report. It ends with a line feed, or is empty. */
type FormatLint = (report: LintReport, colour: boolean) => string;

export const LINT_FORMATS = {
  pretty: ({ problems, sources, maxProblems }, colour) => formatProblems(problems, sources, colour, maxProblems),
  stylish: ({ problems, sources, maxProblems }, colour) =>
    formatStylish(problems, pathsOf(sources), colour, maxProblems),
  json: formatLintJson,
  github: ({ problems }) => formatGithub(problems),
  sarif: formatLintSarif,
  junit: formatLintJunit,
  gitlab: ({ problems, sources }) => formatGitlab(withFingerprints(problems, sources)),
  markdown: formatLintMarkdown,
} as const satisfies Record<string, FormatLint>;

export type LintFormat = keyof typeof LINT_FORMATS;

function pathsOf(sources: readonly Source[]): string[] {
  return sources.map(({ path }) => path);
}

/** `schema/lint-report.schema.json` describes the members. */
function formatLintJson({ version, sources, problems }: LintReport): string {
  const numbers = new Map(countSeverities(problems));
  const entries = withFingerprints(problems, sources).map(
    ({ rule, severity, file, range, message, fingerprint, related, witness }) => ({
      ...{ rule, severity, file, ...range, message, fingerprint },
      ...(related && {
        related: { ...(related.file && { file: related.file }), ...related.range, message: related.message },
      }),
      ...(witness && { witness: { ...witness, route: witness.route ?? null } }),
    }),
  );
  return toJson({
    version: 1,
    gateway: version,
    files: pathsOf(sources),
    errors: numbers.get('error') ?? 0,
    warnings: numbers.get('warning') ?? 0,
    infos: numbers.get('info') ?? 0,
    problems: entries,
  });
}

function formatLintSarif(report: LintReport): string {
  const { problems, sources, version: semanticVersion } = report;
  const ids = [...new Set(problems.map(({ rule }) => rule))].sort();
  return formatSarif({
    verb: 'lint',
    tool: { name: 'signing-gateway', semanticVersion },
    rules: ids.map((id) => sarifRule(id, report)),
    rows: withFingerprints(problems, sources),
  });
}

/** Describes a rule. The help names the place of its documentation because code scanning does not show `helpUri`. */
function sarifRule(id: string, report: LintReport) {
  const uri = ruleUri(id, report);
  const rule = uri === undefined ? { id } : { id, helpUri: uri };
  const rationale = report.rules.get(id)?.rationale;
  if (rationale === undefined) return rule;
  const command = `signing-gateway lint --explain ${id}`;
  const help =
    uri === undefined
      ? { text: `${rationale} Run: ${command}`, markdown: `${rationale} Run \`${command}\`.` }
      : { text: `${rationale} See ${uri}`, markdown: `${rationale} See [the rule's page](${uri}).` };
  return { ...rule, shortDescription: { text: rationale }, help };
}

/** Returns the address of the section that documents a rule; `undefined` if the documentation has no address. */
function ruleUri(id: string, { docsUrl }: LintReport): string | undefined {
  const page = RULES.find((rule) => rule.id === id)?.category ?? 'README';
  return docsUrl === undefined ? undefined : `${docsUrl}/rules/${page}.md#${id}`;
}

/** Formats a suite for each manifest: a case for each problem, which passes unless it fails the run, or else one passing case. */
function formatLintJunit({ sources, problems, failOn }: LintReport): string {
  const suites = pathsOf(sources).map((path) => {
    const cases = problems
      .filter(({ file }) => file === path)
      .map((problem) => {
        const { severity, rule } = problem;
        const text = `${placeOf(problem)} ${severity} ${fullMessage(problem)} [${rule}]`;
        return junitCaseOf(problem, text, isFailing(problem, failOn) ? severity : undefined);
      });
    return { name: path, cases: cases.length === 0 ? [{ name: 'no problems', file: path }] : cases };
  });
  return formatJunit('signing-gateway lint', suites);
}

function formatLintMarkdown(report: LintReport): string {
  const { groups, omitted } = groupProblems(report.problems, report.maxProblems);
  const lines = (...texts: string[]) => texts.filter(Boolean).map(tableCell).join('<br>');
  const table = markdownTable(groups, {
    location: ({ first, others }) => lines(placeOf(first), others),
    severity: ({ first }) => first.severity,
    problem: ({ first }) => lines(...fullMessage(first).split('\n')),
    rule: ({ first: { rule } }) => {
      const uri = ruleUri(rule, report);
      return uri === undefined ? tableCell(rule) : `[${tableCell(rule)}](${uri})`;
    },
  });
  const files = pathsOf(report.sources).map(tableCell).join(', ');
  const title = `Manifest: ${formatCounts(report.problems) || 'no problems'} in ${files}`;
  return formatMarkdown(title, table, omitted === '' ? '' : `${tableCell(omitted)}\n`);
}

/** Formats the number of problems of each severity: `1 error, 2 warnings`. */
export function formatCounts(problems: readonly Problem[]): string {
  return countSeverities(problems)
    .map(([severity, number]) => pluralize(number, severity))
    .join(', ');
}
