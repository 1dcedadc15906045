import { printable } from '../../engine/problem/printable.ts';
import { type Locator, type Problem, toProblems } from '../../engine/problem/problem.ts';
import type { MutationResult } from '../../prove/mutation/run-mutants.ts';
import { paint, pluralize } from '../../report/text.ts';

/** The result of `--mutate`, for every format. */
export interface MutationReport {
  /** The percentage of the visible changes that a case noticed. Rounded down to a tenth, so that 100 means all of them. */
  readonly score: number;
  readonly noticed: number;
  readonly unnoticed: readonly { readonly problem: Problem; readonly caseText: string }[];
  readonly invisible: readonly { readonly problem: Problem; readonly reason: string }[];
  /** The number of changes that were not tested. */
  readonly untested: number;
  /** True if the process had to stop; otherwise changes are not tested because the time was over. */
  readonly isStopped: boolean;
}

export function createMutationReport(
  { noticed, unnoticed, invisible, untested }: MutationResult,
  locator: Locator,
  isStopped: boolean,
): MutationReport {
  const total = noticed + unnoticed.length;
  const locate = (finding: MutationResult['unnoticed'][number]['finding']) =>
    toProblems([finding], locator)[0] as Problem;
  return {
    score: total === 0 ? (untested === 0 ? 100 : 0) : Math.floor((1000 * noticed) / total) / 10,
    noticed,
    unnoticed: unnoticed
      .map(({ finding, caseText }) => ({ problem: locate(finding), caseText }))
      .toSorted((a, b) => compareByPlace(a.problem, b.problem)),
    invisible: invisible.map(({ finding, reason }) => ({ problem: locate(finding), reason })),
    untested,
    isStopped,
  };
}

function compareByPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.range.line - b.range.line || a.range.column - b.range.column;
}

/** Formats each unnoticed change with the case that notices it, then the score. */
export function formatMutation(report: MutationReport, colour: boolean): string {
  const changes = report.unnoticed.map(
    ({ problem, caseText }) => `${formatChange(problem, colour)}\n${indent(caseText)}`,
  );
  const heading = changes.length === 0 ? '' : '\nNo case notices these changes. Add the cases below them:\n\n';
  return [heading, changes.join('\n'), changes.length === 0 ? '' : '\n', formatScore(report)].join('');
}

/** Formats the location and the effect of a change in one line. */
export function formatChange({ file, range, rule, message }: Problem, colour: boolean): string {
  const location = paint(`${printable(file)}:${range.line}:${range.column}`, 'bold', colour);
  return `${location} ${printable(message)} ${paint(`[${rule}]`, 'dim', colour)}`;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
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
