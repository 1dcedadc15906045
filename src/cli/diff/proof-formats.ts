import type { ChangeProof } from '../../prove/proof/prove-change.ts';
import { inlineCode, tableCell } from '../../report/markdown.ts';
import { toJson } from '../../report/report.ts';
import { paint } from '../../report/text.ts';
import { exampleOf, formatDiffJson, formatDiffMarkdown, formatDiffText } from './diff-formats.ts';

/** The names of two manifests and of the file with allowances, and the proof. */
interface ProofReport {
  readonly old: string;
  readonly next: string;
  readonly allow: string | undefined;
  readonly proof: ChangeProof;
}

export const PROOF_FORMATS = { text: formatProofText, json: formatProofJson, markdown: formatProofMarkdown } as const;

function formatProofText(report: ProofReport, colour: boolean): string {
  const summary = paint(summaryOf(report.proof), report.proof.holds ? 'green' : 'red', colour);
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
  return { old, next, differences: proof.differences, hasBothPlaces: true, summary: summaryOf(proof) };
}

function summaryOf({ property, holds, omitted }: ChangeProof): string {
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
