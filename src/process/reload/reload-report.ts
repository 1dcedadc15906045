import type { Severity } from '../../engine/problem/finding.ts';
import { createCodeFramer } from '../../report/code-frame.ts';
import { groupEqualProblems } from '../../report/problem-groups.ts';
import type { LocatedProblems } from './manifest-thread.ts';

/** Equal problems in the log and the admin API, with the lines around the first one. The frame contains no secret. */
export interface ProblemReport {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  readonly frame: string;
  /** The number of problems of the file with this severity, rule and message. */
  readonly count: number;
  /** Positions of the other ones, at most ten. */
  readonly others: readonly { readonly file: string; readonly line: number }[];
}

/** A manifest may have thousands of different problems; the first ones are enough to start fixing it. */
const MAX_GROUPS = 50;
const MAX_OTHERS = 10;

/** Groups equal problems, in the order of their first positions. */
export function reportProblems({ problems, sources }: LocatedProblems): ProblemReport[] {
  const frameOf = createCodeFramer(problems, sources);
  return groupEqualProblems(problems)
    .slice(0, MAX_GROUPS)
    .flatMap(([problem, ...others]) => {
      if (problem === undefined) return [];
      const { file, range, severity, rule, message } = problem;
      const positions = others.slice(0, MAX_OTHERS).map((other) => ({ file: other.file, line: other.range.line }));
      const first = { file, line: range.line, column: range.column, severity, rule, message, frame: frameOf(problem) };
      return [{ ...first, count: others.length + 1, others: positions }];
    });
}
