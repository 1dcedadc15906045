import type { Severity } from '../problem/finding.ts';
import { createFramer } from '../problem/frame.ts';
import type { Placed } from './reading-thread.ts';

/** A problem as a log, a status and an answer tell it: with the lines around it, and no secret in them. */
export interface ToldProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  readonly frame: string;
}

/** A manifest may be wrong in thousands of places: they begin to be mended at the first ones. */
const MOST = 50;

export function toldProblems({ problems, sources }: Placed): ToldProblem[] {
  const frameOf = createFramer(problems, sources);
  return problems.slice(0, MOST).map((problem) => {
    const { file, range, severity, rule, message } = problem;
    return { file, line: range.line, column: range.column, severity, rule, message, frame: frameOf(problem) };
  });
}
