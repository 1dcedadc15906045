import type { Finding, Severity, Where } from './finding.ts';
import { printable } from './printable.ts';

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
  readonly related?: { readonly range: Range; readonly message: string };
}

const MAX_MESSAGE = 600;

/** What can tell places: a parsed document. */
export interface Locator {
  readonly file: string;
  locate(where: Where): Range;
}

/** Adds the places, and puts the problems in reading order: by line, column, rule, message. */
export function toProblems(findings: readonly Finding[], locator: Locator): Problem[] {
  const problems = findings.map((finding) => toProblem(finding, locator));
  const seen = new Set<string>();
  return problems.sort(inReadingOrder).filter((problem) => {
    const key = `${problem.range.line}:${problem.range.column}:${problem.rule}:${problem.message}`;
    return !seen.has(key) && seen.add(key);
  });
}

export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

function toProblem(finding: Finding, locator: Locator): Problem {
  const { rule, severity, where, related } = finding;
  const problem = {
    rule,
    severity,
    file: locator.file,
    range: locator.locate(where),
    message: shortened(printable(finding.message)),
  };
  if (related === undefined) return problem;
  const range = locator.locate({ path: related.path, at: 'value' });
  return { ...problem, related: { range, message: shortened(printable(related.message)) } };
}

/** A message quotes what was written: with both of its ends when it is long. */
function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  return `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 2)}`.toWellFormed();
}

function inReadingOrder(a: Problem, b: Problem): number {
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
