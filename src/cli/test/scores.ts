import { compareByPosition, compareText, type Locator, toProblems } from '../../engine/problem/problem.ts';
import type { MutationResult } from '../../prove/mutation/run-mutants.ts';
import type { CoverageSummary } from '../../prove/testing/coverage.ts';
import type { ReportRow } from '../../report/report.ts';
import { headline, indent, pluralize } from '../../report/text.ts';

/** A person reads no more. */
export const DEFAULT_MAX_UNCOVERED = 50;
/** With fewer equal routes, each one is worth its line. */
const MIN_GROUP = 4;
const MAX_NAMES = 10;

type Uncovered = CoverageSummary['uncovered'];

/** Formats the figures and the units that no case covers, in at most `max` lines. Without a limit, every route has its own line. */
export function formatCoverage({ percent, routes, roles, refusals, values, uncovered }: CoverageSummary, max: number) {
  const format = ({ covered, total }: CoverageSummary['routes'], noun: string) =>
    `${covered} of ${pluralize(total, noun)}`;
  const figures = [
    format(routes, 'route'),
    `${format(roles, 'role')} by route`,
    format(refusals, 'refusal'),
    format(values, 'validated value'),
  ].join(', ');
  return `coverage of routes, roles, refusals and values ${percent} %: ${figures}\n${formatUncovered(uncovered, max)}`;
}

function formatUncovered(uncovered: Uncovered, max: number): string {
  const isAll = max === Number.POSITIVE_INFINITY;
  const groups = isAll ? uncovered.map((entry) => [entry]) : groupEqual(uncovered);
  const lines = groups.slice(0, max).map((group) => {
    const names = group.map(({ route }) => route ?? 'any route');
    return `  not covered: ${joinUpTo(MAX_NAMES, names)}: ${joinUpTo(max, group[0]?.items ?? [])}\n`;
  });
  const omitted = groups.slice(max).flat().length;
  const isCut =
    omitted > 0 || groups.some(([first, ...others]) => (first?.items.length ?? 0) > max || others.length >= MAX_NAMES);
  const more = omitted === 0 ? '' : `and ${pluralize(omitted, 'more route')}; `;
  return lines.join('') + (isCut ? `  ${more}"test --max-uncovered 0" prints everything\n` : '');
}

/** Puts the routes together that lack the same, in the order of their first ones. */
function groupEqual(uncovered: Uncovered): Uncovered[] {
  const equal = Map.groupBy(uncovered, ({ items }) => JSON.stringify(items));
  return [...equal.values()].flatMap((group) => (group.length < MIN_GROUP ? group.map((entry) => [entry]) : [group]));
}

/** Joins at most `max` words, and the number of the others. */
function joinUpTo(max: number, words: readonly string[]): string {
  const others = words.length > max ? ` and ${words.length - max} more` : '';
  return `${words.slice(0, max).join(', ')}${others}`;
}

/** A change of the manifest. It is no problem, so that it has no severity. */
export type MutantRow = Omit<ReportRow, 'severity'>;

/** The result of `--mutate`, for every format. */
export type MutationReport = ReturnType<typeof createMutationReport>;

/** @param isStopped true if the process had to stop; otherwise changes are not tested because the time was over */
export function createMutationReport(
  { noticed, unnoticed, invisible, untested }: MutationResult,
  locator: Locator,
  isStopped: boolean,
) {
  const total = noticed + unnoticed.length;
  const locate = ({
    finding,
  }: MutationResult['unnoticed'][number] | MutationResult['invisible'][number]): MutantRow => {
    const { severity: _severity, ...row } = toProblems([finding], locator)[0] as ReportRow;
    return row;
  };
  return {
    // The percentage of the visible changes that a case noticed. Rounded down to a tenth, so that 100 means all of them.
    score: total === 0 ? (untested === 0 ? 100 : 0) : Math.floor((1000 * noticed) / total) / 10,
    noticed,
    unnoticed: unnoticed.map((mutant) => ({ ...locate(mutant), caseText: mutant.caseText })).toSorted(compareRows),
    invisible: invisible.map((mutant) => ({ ...locate(mutant), reason: mutant.reason })),
    untested,
    isStopped,
  };
}

function compareRows(a: MutantRow, b: MutantRow): number {
  return compareText(a.file, b.file) || compareByPosition(a, b);
}

/** Formats the unnoticed changes with the case that notices them, then the score. */
export function formatMutation(report: MutationReport, colour: boolean): string {
  const changes = [...Map.groupBy(report.unnoticed, ({ caseText }) => caseText)].map(
    ([caseText, rows]) => `${rows.map((row) => headline(row, colour)).join('\n')}\n${indent(caseText)}`,
  );
  const list =
    changes.length === 0 ? '' : `\nNo case notices these changes. Add the cases below them:\n\n${changes.join('\n')}\n`;
  return list + formatScore(report);
}

export function formatScore({ score, noticed, unnoticed, invisible, untested, isStopped }: MutationReport): string {
  const tested = noticed + unnoticed.length;
  const hidden = invisible.length === 0 ? '' : `; ${invisible.length} more are not visible to test cases`;
  const cause = isStopped ? 'the command was stopped' : '--max-time was reached';
  const cut = untested === 0 ? '' : `${pluralize(untested, 'change')} not tested, because ${cause}\n`;
  const result =
    tested === 0 && untested > 0 ? 'not known' : `${score} %: ${noticed} of ${pluralize(tested, 'change')} noticed`;
  return `mutation score ${result}${hidden}\n${cut}`;
}
