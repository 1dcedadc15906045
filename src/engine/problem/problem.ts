import { posix } from 'node:path';
import type { Finding, FindingLocation, Fix, Range, RouteWitness, Severity } from './finding.ts';

/** A finding with its position in a file. */
export interface Problem {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  readonly range: Range;
  readonly message: string;
  /** The second location; `file` if it is in another file. */
  readonly related?: { readonly range: Range; readonly message: string; readonly file?: string };
  /** A request that demonstrates the problem. */
  readonly witness?: RouteWitness;
  /** A safe change of the text that fixes the problem. */
  readonly edit?: TextEdit;
  /** True if the text in the range is a secret, which is never printed. */
  readonly isSecret?: boolean;
}

/** The replacement of a range: offsets in UTF-16 code units, `end` exclusive. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const MAX_MESSAGE = 600;

/** Converts locations to positions: a parsed document. */
export interface Locator {
  readonly file: string;
  locate(where: FindingLocation): Range;
  /** Returns the file of a location. A single document has only one. */
  fileOf?(where: FindingLocation): string;
  /** Returns the text edit of a fix; `undefined` if the text has no form that is safe to edit. */
  edit?(fix: Fix): TextEdit | undefined;
}

/** Adds positions, removes duplicates and sorts by file (the manifest first), line, column, rule and message. */
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
  const { rule, severity, location, witness, fix, isSecret } = finding;
  const edit = fix && locator.edit?.(fix);
  const fileOf = (where: FindingLocation) => locator.fileOf?.(where) ?? locator.file;
  const { file, range } = placeInFile(finding, locator) ?? { file: fileOf(location), range: locator.locate(location) };
  const problem = {
    rule,
    severity,
    file,
    range,
    message: truncateMiddle(redactCredentials(printable(finding.message))),
    ...(witness && { witness }),
    ...(edit && { edit }),
    ...(isSecret && { isSecret }),
  };
  const second = secondLocation(finding);
  if (second === undefined) return problem;
  const isElsewhere = fileOf(second.location) !== file;
  const message = truncateMiddle(printable(second.message));
  return {
    ...problem,
    related: { range: locator.locate(second.location), message, ...(isElsewhere && { file: fileOf(second.location) }) },
  };
}

/** Returns the place of a finding in a file that the manifest refers to; `undefined` for all others. */
function placeInFile({ inFile }: Finding, { file: manifest }: Locator) {
  if (inFile === undefined) return undefined;
  return { file: displayPathBeside(manifest, inFile.source.path), range: inFile.range };
}

function secondLocation({ inFile, location, related }: Finding) {
  if (inFile !== undefined) return { location, message: 'the reference to this file' };
  if (related === undefined) return undefined;
  const { path, file, message } = related;
  const where: FindingLocation = { path, at: 'value', ...(file !== undefined && { file }) };
  return { location: where, message };
}

/** Returns the files in which findings are, besides the texts of the manifest: code frames quote from them. */
export function referencedSources(findings: readonly Finding[], manifest: string) {
  const sources = new Set(findings.flatMap(({ inFile }) => (inFile === undefined ? [] : [inFile.source])));
  return [...sources].map(({ path, text }) => ({ path: displayPathBeside(manifest, path), text }));
}

/** Shortens a message, which may quote a long value, and keeps both ends. */
function truncateMiddle(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  return `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 2)}`.toWellFormed();
}

/** Compares rows of one file by their positions, then by their texts. */
export function compareByPosition(a: ProblemText, b: ProblemText): number {
  return (
    a.range.line - b.range.line ||
    a.range.column - b.range.column ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message)
  );
}

type ProblemText = Pick<Problem, 'range' | 'rule' | 'message'>;

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Replaces control and invisible characters, which could manipulate a terminal. Keeps the length in code units. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (characters) => '\uFFFD'.repeat(characters.length));
}

/** The user and password of a URL. */
export const CREDENTIALS = /(?<=:\/\/)[^\s/?#@"']+(?=@)/g;

/** Replaces each character of the user and password of URLs with a dot. */
export function redactCredentials(text: string): string {
  return text.includes('@') ? text.replaceAll(CREDENTIALS, dots) : text;
}

export function dots(text: string): string {
  return '•'.repeat(text.length);
}

/** Returns the printed path of a file beside a manifest: relative to the same folder, or at the same git revision. */
export function displayPathBeside(manifest: string, file: string): string {
  if (file.startsWith('/')) return file;
  const revision = manifest.slice(0, manifest.lastIndexOf(':') + 1);
  const folder = manifest.slice(revision.length, Math.max(manifest.lastIndexOf('/') + 1, revision.length));
  return revision + (file.startsWith('..') ? posix.normalize(folder + file) : folder + file);
}
