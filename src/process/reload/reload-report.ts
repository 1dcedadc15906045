import type { Severity } from '../../engine/problem/finding.ts';
import { createCodeFramer } from '../../report/code-frame.ts';
import { groupEqualProblems } from '../../report/problem-groups.ts';

import type { LocatedProblems } from './manifest-thread.ts';
import type { PlanChanges } from './plan-changes.ts';

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
    rate_limits: names(changes.rateLimits),
    rate_limits_removed: names(changes.rateLimitsRemoved),
    server: names(changes.server),
    rules: names(changes.rules),
    needs_restart: names(changes.needsRestart),
  };
}
