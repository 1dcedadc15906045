import type { Problem } from '../engine/problem/problem.ts';

/** Groups the problems of a file with the same rule, severity and message, in the order of the first problem of each group. */
export function groupEqualProblems(problems: readonly Problem[]): Problem[][] {
  const keyOf = ({ file, rule, severity, message }: Problem) => JSON.stringify([file, rule, severity, message]);
  return [...Map.groupBy(problems, keyOf).values()];
}
