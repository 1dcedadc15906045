import type { Severity } from '../../engine/problem/finding.ts';
import type { Difference, DiffWitness } from '../../prove/diff/difference.ts';
import type { ChangeProof } from '../../prove/proof/prove-change.ts';
import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { countSeverities, type Facts, isFailing, placeOf, toJson } from '../../report/report.ts';
import { formatRow, paint, pluralize } from '../../report/text.ts';
import { formatOption, parseChoice, parseFormat, valueOption } from '../parse-arguments.ts';
import type { Options, OptionValues } from '../terminal.ts';

/** The names of two manifests and their differences, most severe first. */
interface DiffReport {
  readonly old: string;
  readonly next: string;
  readonly differences: readonly Difference[];
  /** True if each difference is printed with its places in both files. */
  readonly hasBothPlaces?: boolean;
  /** In place of the number of differences. */
  readonly summary?: string;
}

export const DIFF_FORMATS = { text: formatDiffText, json: formatDiffJson, markdown: formatDiffMarkdown } as const;

/** Formats a report for a person. Each difference begins with `file:line:column`. */
export function formatDiffText(report: DiffReport, colour: boolean): string {
  const { differences, hasBothPlaces = false, summary = summaryOf(differences) } = report;
  const { listed, omitted } = limited(differences);
  const parts = listed.map((difference) => {
    const { witness, counterpart } = difference;
    const facts: Facts = [
      ...(hasBothPlaces ? [['', `compared with ${placeOf(counterpart)}`] as const] : []),
      ...(witness === undefined ? [] : [['', exampleOf(witness)] as const]),
    ];
    return formatRow({ ...difference, facts }, colour);
  });
  const rest = omitted.map(({ rule, count }) => `and ${count} more ${paint(`[${rule}]`, 'dim', colour)}\n`);
  return `${[...parts, ...rest].join('')}${summary}\n`;
}

/** Formats a report as JSON. docs/diff.md describes the members. */
export function formatDiffJson({ old, next, differences, hasBothPlaces = false }: DiffReport): string {
  const entries = differences.map(
    ({ range: { line, column }, rule, severity, message, file, witness, counterpart }) => {
      const { range } = counterpart;
      const other = { counterpart: { file: counterpart.file, line: range.line, column: range.column } };
      return { rule, severity, message, file, line, column, ...(hasBothPlaces && other), witness: witness ?? null };
    },
  );
  return toJson({ version: 1, old, new: next, differences: entries });
}

/** Formats a report as a comment for a pull request. */
export function formatDiffMarkdown(report: DiffReport): string {
  const { old, next, differences, hasBothPlaces = false, summary = summaryOf(differences) } = report;
  const { listed, omitted } = limited(differences);
  const columns = {
    severity: ({ severity }: Difference) => (severity === 'error' ? `**${severity}**` : severity),
    difference: ({ message, rule }: Difference) => `${tableCell(message)} (${rule})`,
    location: (difference: Difference) =>
      (hasBothPlaces ? [difference, difference.counterpart] : [difference])
        .map(({ file, range }) => inlineCode(`${file}:${range.line}`))
        .join(', '),
    example: ({ witness }: Difference) => (witness === undefined ? '' : inlineCode(exampleOf(witness))),
  };
  const more = omitted.map(({ rule, count }) => `and ${count} more (${rule})`);
  const title = `${inlineCode(old)} → ${inlineCode(next)}: ${summary}`;
  return formatMarkdown(title, markdownTable(listed, columns, more));
}

/** The differences of one kind that a person reads. The JSON format has all of them. */
const MAX_OF_RULE = 100;

/** Returns the first differences of each kind, and the number of the others. */
function limited(differences: readonly Difference[]) {
  const byRule = [...Map.groupBy(differences, ({ rule }) => rule)];
  const cut = new Set(byRule.flatMap(([, ofRule]) => ofRule.slice(MAX_OF_RULE)));
  const omitted = byRule.map(([rule, ofRule]) => ({ rule, count: ofRule.length - MAX_OF_RULE }));
  return {
    listed: differences.filter((difference) => !cut.has(difference)),
    omitted: omitted.filter(({ count }) => count > 0),
  };
}

function summaryOf(differences: readonly Difference[]): string {
  const counts = countSeverities(differences).map(([severity, number]) =>
    severity === 'info' ? `${number} info` : pluralize(number, severity),
  );
  return counts.join(', ') || 'no differences in behaviour';
}

const MAX_CHARACTERS = 60;

/** Formats a request or a body on one line: `POST /contacts as user, body: {}`. Shortens long texts and adds their length. */
function exampleOf(witness: DiffWitness): string {
  const body = 'body' in witness ? `body: ${JSON.stringify(witness.body, shortenStrings)}` : undefined;
  if (witness.request === undefined) return body ?? '';
  const { method, url, role, issuer, token, peer, headers = [], body: text, bodyBytes } = witness.request;
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  const caller = role === undefined ? '' : ` as ${role}${issuer === undefined ? '' : ` of ${issuer}`}`;
  const size = bodyBytes === undefined ? undefined : `body of ${bodyBytes} bytes`;
  const content = body ?? size ?? (text === undefined ? undefined : `body: ${shorten(text)}`);
  const from = peer === undefined ? '' : ` from ${peer}`;
  const claims = token === undefined ? [] : [`token: ${JSON.stringify(token, shortenStrings)}`];
  const contents = content === undefined ? [] : [content];
  return [`${method} ${shorten(url)}${caller}${from}`, ...claims, ...lines, ...contents].join(', ');
}

function shortenStrings(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? shorten(value) : value;
}

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, 20)}… (${text.length} characters)`;
}

/** The options of the verbs that print differences. */
export const DIFF_OPTIONS = {
  'fail-on': valueOption('SEVERITY', 'exit with 1 from this severity on: error, warning (default), info or never', {
    choices: ['error', 'warning', 'info', 'never'],
  }),
  format: formatOption(DIFF_FORMATS, 'text (default), json, or markdown for a pull request'),
} as const satisfies Options;

type FailOn = Severity | 'never';

/** Parses the options. Throws a `UsageError` if they are invalid. */
export function readDiffOptions(values: OptionValues<typeof DIFF_OPTIONS>) {
  return {
    failOn: parseChoice<FailOn>('--fail-on', values['fail-on'], DIFF_OPTIONS['fail-on'].choices, 'warning'),
    format: parseFormat(DIFF_FORMATS, values.format),
  };
}

/** True if one of the differences is at least as severe. */
export function hasFailing(differences: readonly Difference[], failOn: FailOn): boolean {
  return failOn !== 'never' && differences.some((difference) => isFailing(difference, failOn));
}

/** The names of two manifests and of the file with allowances, and the proof. */
interface ProofReport {
  readonly old: string;
  readonly next: string;
  readonly allow: string | undefined;
  readonly proof: ChangeProof;
}

export const PROOF_FORMATS = { text: formatProofText, json: formatProofJson, markdown: formatProofMarkdown } as const;

function formatProofText(report: ProofReport, colour: boolean): string {
  const summary = paint(proofSummaryOf(report.proof), report.proof.holds ? 'green' : 'red', colour);
  return formatDiffText({ ...diffReport(report), summary }, colour) + openedLines(report, '', '  ', (text) => text);
}

/** Formats a proof as JSON. docs/proof.md describes the members. */
function formatProofJson(report: ProofReport): string {
  const { property, holds, omitted, allowed } = report.proof;
  const opened = allowed.map(({ allowance: { line, why }, opened }) => ({
    ...{ file: report.allow, line, why },
    requests: opened.map(({ witness }) => witness?.request),
  }));
  return toJson({ ...JSON.parse(formatDiffJson(diffReport(report))), property, holds, omitted, allowed: opened });
}

function formatProofMarkdown(report: ProofReport): string {
  const opened = openedLines(report, '- ', '  - ', (text) => inlineCode(text));
  return formatDiffMarkdown(diffReport(report)) + (opened === '' ? '' : `\n${opened}`);
}

function diffReport({ old, next, proof }: ProofReport) {
  return { old, next, differences: proof.differences, hasBothPlaces: true, summary: proofSummaryOf(proof) };
}

function proofSummaryOf({ property, holds, omitted }: ChangeProof): string {
  const more = omitted === 0 ? '' : ` (${omitted} further differences were not run)`;
  return `${property}: ${holds ? 'holds for all requests' : `does not hold${more}`}`;
}

/** Returns the allowances with the requests that they open. */
function openedLines({ allow, proof }: ProofReport, start: string, indent: string, format: (text: string) => string) {
  const lines = proof.allowed.flatMap(({ allowance: { line, why }, opened }) => [
    `${start}${allow}:${line} opens ${opened.length === 0 ? 'nothing, so remove it' : 'exactly'}: ${start === '' ? why : tableCell(why)}\n`,
    ...opened.map(({ witness }) => `${indent}${format(exampleOf(witness ?? {}))}\n`),
  ]);
  return lines.join('');
}
