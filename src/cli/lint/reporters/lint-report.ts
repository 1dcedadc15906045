import { RULES } from '../../../lint/rule-table.ts';
import type { Source } from '../../../manifest/source.ts';
import { SEVERITY_RANKS, type Severity } from '../../../problem/finding.ts';
import { fingerprintsOf } from '../../../problem/fingerprint.ts';
import type { Problem } from '../../../problem/problem.ts';
import { homepage } from '../../version.ts';

/** What `lint` has to tell, for reporters to write down. */
export interface LintReport {
  /** The manifests that were looked at, clean ones too; each `path` as problems name it, `/` between its parts. */
  readonly sources: readonly Source[];
  /** File by file in the order of `sources`, and in reading order inside of each. */
  readonly problems: readonly Problem[];
  /** The least severity that fails the run. */
  readonly failOn: Severity;
  /** Why there is a rule, by its id; a check that is no rule of its own, the schema say, has no entry. */
  readonly rules: ReadonlyMap<string, { readonly rationale: string }>;
  /** The gateway's version. */
  readonly version: string;
}

/** Report to text, the same for the same report; the text ends with a line feed, or is empty. */
export type Reporter = (report: LintReport, colour: boolean) => string;

export function isFailing({ severity }: Problem, { failOn }: LintReport): boolean {
  return SEVERITY_RANKS[severity] >= SEVERITY_RANKS[failOn];
}

export function countOf({ problems }: LintReport, severity: Severity): number {
  return problems.filter((problem) => problem.severity === severity).length;
}

/** Each problem with what it is known by from one run to the next. */
export function withFingerprints({ problems, sources }: LintReport): { problem: Problem; fingerprint: string }[] {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const fingerprints = fingerprintsOf(problems, (file) => texts.get(file) ?? '');
  return problems.map((problem, index) => ({ problem, fingerprint: fingerprints[index] ?? '' }));
}

/** `gateway.yaml:8:15`, as it can be clicked on in a terminal. */
export function formatLocation({ file, range }: Pick<Problem, 'file' | 'range'>): string {
  return `${file}:${range.line}:${range.column}`;
}

/** A second place is told in words where a format has no place of its own for it. */
export function fullMessage({ file, message, related }: Problem): string {
  return related === undefined ? message : `${message}\n${related.message}: ${formatLocation({ file, ...related })}`;
}

/** The address of the section that documents a rule. */
export function ruleUri(id: string): string {
  return `${homepage}/docs/rules/${rulePage(id)}#${id}`;
}

/** The page in `docs/rules` that documents a rule. */
export function rulePage(id: string): string {
  return `${RULES.find((rule) => rule.id === id)?.category ?? 'README'}.md`;
}

/** JSON escapes the control characters below U+0020; those above steer terminals as well. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/[\u007F-\u009F]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`)}\n`;
}
