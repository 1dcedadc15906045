import type { PlanChanges } from '../plan/changes.ts';
import { createCodeFramer } from '../problem/code-frame.ts';
import type { Severity } from '../problem/finding.ts';
import type { LocatedProblems } from './manifest-thread.ts';

/** A problem in the log and the admin API, with the lines around it. The frame contains no secret. */
export interface ProblemReport {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  readonly frame: string;
}

/** A manifest may have thousands of problems; the first ones are enough to start fixing it. */
const MAX_PROBLEMS = 50;

export function reportProblems({ problems, sources }: LocatedProblems): ProblemReport[] {
  const frameOf = createCodeFramer(problems, sources);
  return problems.slice(0, MAX_PROBLEMS).map((problem) => {
    const { file, range, severity, rule, message } = problem;
    return { file, line: range.line, column: range.column, severity, rule, message, frame: frameOf(problem) };
  });
}

/**
 * Returns the changes with the member names of the log and the admin API.
 *
 * @param limit the most names of one kind
 */
export function reportChanges(changes: PlanChanges, limit = Number.POSITIVE_INFINITY) {
  const names = <Name extends string>(list: readonly Name[]) => list.slice(0, limit);
  return {
    added: names(changes.added),
    removed: names(changes.removed),
    changed: names(changes.changed),
    now_public: names(changes.nowPublic),
    now_protected: names(changes.nowProtected),
    upstreams: names(changes.upstreams),
    upstreams_removed: names(changes.upstreamsRemoved),
    server: names(changes.server),
    rules: names(changes.rules),
    needs_restart: names(changes.needsRestart),
  };
}
