import { createCodeFramer } from '../../report/code-frame.ts';
import { groupEqualProblems } from '../../report/problem-groups.ts';
import type { LocatedProblems } from './manifest-thread.ts';

/** A manifest may have thousands of different problems; the first ones are enough to start fixing it. */
const MAX_GROUPS = 50;
const MAX_OTHERS = 10;

/** Groups equal problems in the order of their first positions, each with the lines around the first one, without secrets. */
export function reportProblems({ problems, sources }: LocatedProblems) {
  const frameOf = createCodeFramer(problems, sources);
  return groupEqualProblems(problems)
    .slice(0, MAX_GROUPS)
    .flatMap(([problem, ...others]) => {
      if (problem === undefined) return [];
      const { file, range, severity, rule, message } = problem;
      const positions = others.slice(0, MAX_OTHERS).map((other) => ({ file: other.file, line: other.range.line }));
      const first = { file, line: range.line, column: range.column, severity, rule, message, frame: frameOf(problem) };
      // The number of problems of the file with this severity, rule and message, and the positions of some of the others.
      return [{ ...first, count: others.length + 1, others: positions }];
    });
}
