import { SEVERITY_RANKS } from '../engine/problem/finding.ts';
import { type Problem, printable } from '../engine/problem/problem.ts';

/** A person reads no more, and one mistake can cause thousands of problems. */
export const DEFAULT_MAX_PROBLEMS = 50;
/** With fewer equal problems, the code of each one is worth its lines. */
const MIN_GROUP = 4;
const MAX_POSITIONS = 10;

/** Problems of one file with the same rule and message. */
interface ProblemGroup {
  readonly first: Problem;
  /** The positions of the others, as the end of a text; empty if there are none. */
  readonly others: string;
}

/** Groups equal problems in the order of their first ones. With a limit, returns the `max` most severe groups and describes the others. */
export function groupProblems(problems: readonly Problem[], max: number): { groups: ProblemGroup[]; omitted: string } {
  const minGroup = max === Number.POSITIVE_INFINITY ? max : MIN_GROUP;
  const large = groupEqualProblems(problems).filter(({ length }) => length >= minGroup);
  const groupOf = new Map(large.flatMap((group) => group.map((problem) => [problem, group])));
  const groups = [...Map.groupBy<unknown, Problem>(problems, (problem) => groupOf.get(problem) ?? problem).values()];
  const shown = mostSevere(groups, max);
  return {
    groups: [...shown].map(([first, ...others]) => ({ first: first as Problem, others: formatPositions(others) })),
    omitted: formatOmitted(groups.filter((group) => !shown.has(group)).flat()),
  };
}

/** Returns at most `max` groups, in their order. */
function mostSevere(groups: readonly (readonly Problem[])[], max: number): ReadonlySet<readonly Problem[]> {
  if (groups.length <= max) return new Set(groups);
  const rankOf = ([first]: readonly Problem[]) => (first === undefined ? 0 : SEVERITY_RANKS[first.severity]);
  const shown = new Set(groups.toSorted((a, b) => rankOf(b) - rankOf(a)).slice(0, max));
  return new Set(groups.filter((group) => shown.has(group)));
}

function formatPositions(problems: readonly Problem[]): string {
  if (problems.length === 0) return '';
  const positions = problems.slice(0, MAX_POSITIONS).map(({ range }) => `${range.line}:${range.column}`);
  const more = problems.length - positions.length;
  return `also at ${positions.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function formatOmitted(problems: readonly Problem[]): string {
  if (problems.length === 0) return '';
  const rules = [...Map.groupBy(problems, ({ rule }) => rule)].toSorted(([, a], [, b]) => b.length - a.length);
  const counts = rules.map(([rule, ofRule]) => `${ofRule.length} [${rule}]`).join(', ');
  return `and ${problems.length} more: ${printable(counts)}; "lint --max-problems 0" prints all of them`;
}

/** Groups the problems of a file with the same rule, severity and message, in the order of the first problem of each group. */
export function groupEqualProblems(problems: readonly Problem[]): Problem[][] {
  const keyOf = ({ file, rule, severity, message }: Problem) => JSON.stringify([file, rule, severity, message]);
  return [...Map.groupBy(problems, keyOf).values()];
}
