import { RULES } from '../../lint/rule-table.ts';
import { readText } from '../../manifest/file-environment.ts';
import type { Problem } from '../../problem/problem.ts';
import { CommandError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { type LintReport, toJson, withFingerprints } from './reporters/lint-report.ts';

interface Baseline {
  readonly version: 1;
  /** What is known, and not told of again. */
  readonly problems: readonly { readonly rule: string; readonly file: string; readonly fingerprint: string }[];
}

/** Errors keep the manifest from being served: nobody can agree to live with them. */
const ERRORS = new Set(RULES.filter(({ severity }) => severity === 'error').map(({ id }) => id));

/** Writes down what is told of now. */
export function writeBaseline(path: string, report: LintReport): void {
  const problems = withFingerprints(report)
    .filter(({ problem }) => !ERRORS.has(problem.rule))
    .map(({ problem: { rule, file }, fingerprint }) => ({ rule, file, fingerprint }));
  const baseline: Baseline = { version: 1, problems };
  writeFileAtomic(path, toJson(baseline));
}

/** The problems that a baseline does not know. */
export function newProblems(path: string, report: LintReport): Problem[] {
  const known = new Set(readBaseline(path).problems.map(({ fingerprint }) => fingerprint));
  return withFingerprints(report)
    .filter(({ problem, fingerprint }) => ERRORS.has(problem.rule) || !known.has(fingerprint))
    .map(({ problem }) => problem);
}

function readBaseline(path: string): Baseline {
  try {
    const baseline: Baseline = JSON.parse(readText(path));
    if (baseline.version !== 1 || !Array.isArray(baseline.problems)) throw new Error('it is no baseline of version 1');
    return baseline;
  } catch (error) {
    throw new CommandError(
      `${path} cannot be used: ${(error as Error).message}; write it with --write-baseline ${path}`,
    );
  }
}
