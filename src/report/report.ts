import { type Range, SEVERITY_RANKS, type Severity } from '../engine/problem/finding.ts';
import type { Problem } from '../engine/problem/problem.ts';

/** A row of a report: a problem, a difference, a kind of change, a mutation that no test case notices. */
export interface ReportRow extends Pick<Problem, 'rule' | 'severity' | 'message' | 'file' | 'range' | 'related'> {
  /** Identifies the row across runs, for the formats that compare runs. */
  readonly fingerprint?: string;
}

/** Texts about a report or one of its rows, in the order in which they are printed. The name may be empty. */
export type Facts = readonly (readonly [name: string, text: string])[];

/** A row as text for a person. One without a file begins with its rule. */
export interface TextRow extends Pick<ReportRow, 'rule' | 'message'> {
  readonly severity?: Severity;
  readonly file?: string;
  readonly range?: Pick<Range, 'line' | 'column'>;
  readonly facts?: Facts;
}

/** Formats a place as terminals can link it: `gateway.yaml:8:15`. */
export function placeOf({ file, range }: { file: string; range: Pick<Range, 'line' | 'column'> }): string {
  return `${file}:${range.line}:${range.column}`;
}

/** Returns the message and the related place, for formats that have no field for it. */
export function fullMessage({ file, message, related }: ReportRow): string {
  return related === undefined ? message : `${message}\n${related.message}: ${placeOf({ file, ...related })}`;
}

/** True if a row is at least as severe. */
export function isFailing({ severity }: Pick<ReportRow, 'severity'>, failOn: Severity): boolean {
  return SEVERITY_RANKS[severity] >= SEVERITY_RANKS[failOn];
}

/** Returns the number of rows of each severity that has some, the most severe first. */
export function countSeverities(rows: readonly Pick<ReportRow, 'severity'>[]): [Severity, number][] {
  const severities = Object.keys(SEVERITY_RANKS) as Severity[];
  return severities
    .map((severity): [Severity, number] => [severity, rows.filter((row) => row.severity === severity).length])
    .filter(([, number]) => number > 0);
}

/** Returns the counts above 0, the highest first. */
export function entriesOf(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one);
}

/** Formats a value for programs. Also escapes U+007F to U+009F, which JSON does not require but terminals interpret. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/[\u007F-\u009F]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`;
}
