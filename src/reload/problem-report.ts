import { createCodeFramer } from '../problem/code-frame.ts';
import type { Severity } from '../problem/finding.ts';
import type { LocatedProblems } from './manifest-thread.ts';

/** A problem as a log, a status and an answer tell it: with the lines around it, and no secret in them. */
export interface ProblemReport {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  readonly frame: string;
}

/** A manifest may be wrong in thousands of places: they begin to be mended at the first ones. */
const MAX_PROBLEMS = 50;

export function reportProblems({ problems, sources }: LocatedProblems): ProblemReport[] {
  const frameOf = createCodeFramer(problems, sources);
  return problems.slice(0, MAX_PROBLEMS).map((problem) => {
    const { file, range, severity, rule, message } = problem;
    return { file, line: range.line, column: range.column, severity, rule, message, frame: frameOf(problem) };
  });
}
