import { RULES } from '../../lint/rule-table.ts';
import { readText } from '../../manifest/file-environment.ts';
import type { Problem } from '../../problem/problem.ts';
import { CommandError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { type LintReport, toJson, withFingerprints } from './reporters/lint-report.ts';

interface Baseline {
  readonly version: 1;
  /** The problems that are not reported again. */
  readonly problems: readonly { readonly rule: string; readonly file: string; readonly fingerprint: string }[];
}

/** Errors are never in a baseline: the gateway does not serve a manifest with errors. */
const ERRORS = new Set(RULES.filter(({ severity }) => severity === 'error').map(({ id }) => id));

/** Writes the problems of a report into a baseline file. */
export function writeBaseline(path: string, report: LintReport): void {
  const problems = withFingerprints(report)
    .filter(({ problem }) => !ERRORS.has(problem.rule))
    .map(({ problem: { rule, file }, fingerprint }) => ({ rule, file, fingerprint }));
  const baseline: Baseline = { version: 1, problems };
  writeFileAtomic(path, toJson(baseline));
}

/** Returns the problems that are not in a baseline. */
export function newProblems(path: string, report: LintReport): Problem[] {
  const baseline = new Set(readBaseline(path).problems.map(({ fingerprint }) => fingerprint));
  return withFingerprints(report)
    .filter(({ problem, fingerprint }) => ERRORS.has(problem.rule) || !baseline.has(fingerprint))
    .map(({ problem }) => problem);
}

function readBaseline(path: string): Baseline {
  try {
    const baseline: unknown = parseJson(readText(path));
    if (!isBaseline(baseline)) throw new Error('it is not a baseline of version 1');
    return baseline;
  } catch (error) {
    throw new CommandError(
      `cannot use ${path} as a baseline: ${(error as Error).message}; create it with --write-baseline ${path}`,
    );
  }
}

function parseJson(text: string): unknown {
  if (!text.isWellFormed()) throw new Error('it is not UTF-8');
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser quotes the file.
    throw new Error('it is not JSON');
  }
}

function isBaseline(value: unknown): value is Baseline {
  const { version, problems } = (value ?? {}) as Partial<Record<keyof Baseline, unknown>>;
  const isEntry = (entry: unknown) => typeof (entry as { fingerprint?: unknown } | null)?.fingerprint === 'string';
  return version === 1 && Array.isArray(problems) && problems.every(isEntry);
}
