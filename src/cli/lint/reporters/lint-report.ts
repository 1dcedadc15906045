import { RULES } from '../../../check/lint/rule-table.ts';
import type { Source } from '../../../engine/manifest/source.ts';
import { SEVERITY_RANKS, type Severity } from '../../../engine/problem/finding.ts';
import type { Problem } from '../../../engine/problem/problem.ts';
import { fingerprintsOf } from '../../../report/fingerprint.ts';

/** The result of a lint run, which reporters format. */
export interface LintReport {
  /** The linted manifests, also those without problems. Each `path` equals the `file` of its problems and uses `/`. */
  readonly sources: readonly Source[];
  /** In the order of `sources`, and in reading order within each file. */
  readonly problems: readonly Problem[];
  /** The lowest severity that fails the run. */
  readonly failOn: Severity;
  /** The largest number of groups of equal problems in the formats for people. */
  readonly maxProblems: number;
  /** Each rule's rationale by rule id. Checks that are not rules, such as the schema, have no entry. */
  readonly rules: ReadonlyMap<string, { readonly rationale: string }>;
  /** The gateway's version. */
  readonly version: string;
  /** The address at which the folder `docs` is published, if it is known. */
  readonly docsUrl?: string | undefined;
}

/** Formats a report. The text is the same for the same report. It ends with a line feed, or is empty. */
export type Reporter = (report: LintReport, colour: boolean) => string;

export function isFailing({ severity }: Problem, { failOn }: LintReport): boolean {
  return SEVERITY_RANKS[severity] >= SEVERITY_RANKS[failOn];
}

export function countOf({ problems }: LintReport, severity: Severity): number {
  return problems.filter((problem) => problem.severity === severity).length;
}

/** Returns each problem with the fingerprint that identifies it across runs. */
export function withFingerprints({ problems, sources }: LintReport): { problem: Problem; fingerprint: string }[] {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const fingerprints = fingerprintsOf(problems, (file) => texts.get(file) ?? '');
  return problems.map((problem, index) => ({ problem, fingerprint: fingerprints[index] ?? '' }));
}

/** Formats a location as terminals can link it: `gateway.yaml:8:15`. */
export function formatLocation({ file, range }: Pick<Problem, 'file' | 'range'>): string {
  return `${file}:${range.line}:${range.column}`;
}

/** Returns the message and the related location, for formats that have no field for it. */
export function fullMessage({ file, message, related }: Problem): string {
  return related === undefined ? message : `${message}\n${related.message}: ${formatLocation({ file, ...related })}`;
}

/** Returns the address of the section that documents a rule; `undefined` if the documentation has no address. */
export function ruleUri(id: string, { docsUrl }: LintReport): string | undefined {
  return docsUrl === undefined ? undefined : `${docsUrl}/rules/${rulePage(id)}#${id}`;
}

/** The page in `docs/rules` that documents a rule. */
function rulePage(id: string): string {
  return `${RULES.find((rule) => rule.id === id)?.category ?? 'README'}.md`;
}

/** Serializes a value. Also escapes U+007F to U+009F, which JSON does not require but terminals interpret. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/[\u007F-\u009F]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`;
}
