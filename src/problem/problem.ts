import type { Finding, FindingLocation, Fix, RouteWitness, Severity } from './finding.ts';
import { printable } from './printable.ts';
import { redactCredentials } from './redaction.ts';

/** A place in a text. Lines and columns count from 1; columns are UTF-16 code units, as editors count them. */
export interface Range {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** Exclusive. */
  readonly endColumn: number;
}

/** A finding with its place in the file: what is printed. */
export interface Problem {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  readonly range: Range;
  readonly message: string;
  /** The other place; `file` where it is in another one. */
  readonly related?: { readonly range: Range; readonly message: string; readonly file?: string };
  /** A request that shows it. */
  readonly witness?: RouteWitness;
  /** The change of the text that mends it, where there is a safe one. */
  readonly edit?: TextEdit;
  /** What stands in the range is a secret: no text that is shown holds it. */
  readonly isSecret?: boolean;
}

/** Other text for a part of a text: offsets in UTF-16 code units, `end` exclusive. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const MAX_MESSAGE = 600;

/** What can tell places: a parsed document. */
export interface Locator {
  readonly file: string;
  locate(where: FindingLocation): Range;
  /** The file that a place is in; left out: there is but one. */
  fileOf?(where: FindingLocation): string;
  /** The edit that a fix stands for; `undefined` when the text has not the form that it could be done to safely. */
  edit?(fix: Fix): TextEdit | undefined;
}

/** Adds the places, and puts the problems in reading order: by file, the first one first, then line, column, rule, message. */
export function toProblems(findings: readonly Finding[], locator: Locator): Problem[] {
  const problems = findings.map((finding) => toProblem(finding, locator));
  const seen = new Set<string>();
  const order = (a: Problem, b: Problem) =>
    Number(b.file === locator.file) - Number(a.file === locator.file) ||
    compareText(a.file, b.file) ||
    compareByPosition(a, b);
  return problems.sort(order).filter((problem) => {
    const key = `${problem.file}:${problem.range.line}:${problem.range.column}:${problem.rule}:${problem.message}`;
    return !seen.has(key) && seen.add(key);
  });
}

export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

function toProblem(finding: Finding, locator: Locator): Problem {
  const { rule, severity, location, related, witness, fix, isSecret } = finding;
  const edit = fix && locator.edit?.(fix);
  const fileOf = (place: FindingLocation) => locator.fileOf?.(place) ?? locator.file;
  const file = fileOf(location);
  const problem = {
    rule,
    severity,
    file,
    range: locator.locate(location),
    message: truncateMiddle(redactCredentials(printable(finding.message))),
    ...(witness && { witness }),
    ...(edit && { edit }),
    ...(isSecret && { isSecret }),
  };
  if (related === undefined) return problem;
  const other: FindingLocation = {
    path: related.path,
    at: 'value',
    ...(related.file !== undefined && { file: related.file }),
  };
  const isElsewhere = fileOf(other) !== file;
  const message = truncateMiddle(printable(related.message));
  return {
    ...problem,
    related: { range: locator.locate(other), message, ...(isElsewhere && { file: fileOf(other) }) },
  };
}

/** A message quotes what was written: with both of its ends when it is long. */
function truncateMiddle(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  return `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 2)}`.toWellFormed();
}

function compareByPosition(a: Problem, b: Problem): number {
  return (
    a.range.line - b.range.line ||
    a.range.column - b.range.column ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
