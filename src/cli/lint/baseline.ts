import { RULES } from '../../check/lint/rule-table.ts';
import { parseJson } from '../../engine/json-pointer.ts';
import { readText } from '../../engine/manifest/source.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { withFingerprints } from '../../report/fingerprint.ts';
import { toJson } from '../../report/report.ts';
import { readOrFail } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import type { LintReport } from './lint-formats.ts';

interface Baseline {
  readonly version: 1;
  /** The problems that are not reported again. */
  readonly problems: readonly { readonly rule: string; readonly file: string; readonly fingerprint: string }[];
}

/** Errors are never in a baseline: the gateway does not serve a manifest with errors. */
const ERRORS = new Set(RULES.filter(({ severity }) => severity === 'error').map(({ id }) => id));

export function writeBaseline(path: string, { problems, sources }: LintReport): void {
  const entries = withFingerprints(problems, sources)
    .filter(({ rule }) => !ERRORS.has(rule))
    .map(({ rule, file, fingerprint }) => ({ rule, file, fingerprint }));
  const baseline: Baseline = { version: 1, problems: entries };
  writeFileAtomic(path, toJson(baseline));
}

export function newProblems(path: string, { problems, sources }: LintReport): Problem[] {
  const baseline = new Set(readBaseline(path).problems.map(({ fingerprint }) => fingerprint));
  return withFingerprints(problems, sources).filter(
    ({ rule, fingerprint }) => ERRORS.has(rule) || !baseline.has(fingerprint),
  );
}

function readBaseline(path: string): Baseline {
  const refuse = (reason: string) =>
    new CommandError(`cannot use ${path} as a baseline: ${reason}; create it with --write-baseline ${path}`);
  const text = readOrFail(path, 'name a baseline, or create one with --write-baseline', () => readText(path));
  if (!text.isWellFormed()) throw refuse('it is not UTF-8');
  const baseline = parseJson(text);
  if (baseline === undefined) throw refuse('it is not JSON');
  if (!isBaseline(baseline)) throw refuse('it is not a baseline of version 1');
  return baseline;
}

function isBaseline(value: unknown): value is Baseline {
  const { version, problems } = (value ?? {}) as Partial<Record<keyof Baseline, unknown>>;
  const isEntry = (entry: unknown) => typeof (entry as { fingerprint?: unknown } | null)?.fingerprint === 'string';
  return version === 1 && Array.isArray(problems) && problems.every(isEntry);
}
