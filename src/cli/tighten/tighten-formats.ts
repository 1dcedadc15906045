import { printable } from '../../engine/problem/printable.ts';
import { inlineCode, tableCell } from '../../report/markdown.ts';
import { paint } from '../../report/text.ts';
import type { Evidence } from '../../traffic/tighten/evidence.ts';
import type { LocatedProposal } from '../../traffic/tighten/tighten.ts';
import { daysOf } from '../../traffic/tighten/tighten-notes.ts';
import { byKind, formatEvidence, formatPatch, formatSummary, type TightenReport } from './tighten-report.ts';

type TightenFormat = (report: TightenReport, colour: boolean) => string;

export const TIGHTEN_FORMATS = {
  pretty: formatPretty,
  json: formatJson,
  markdown: formatMarkdown,
  patch: formatPatch,
} as const satisfies Readonly<Record<string, TightenFormat>>;

/** Proposals of one kind that a person reads. The JSON format has all of them. */
const MAX_OF_KIND = 100;

function formatPretty(report: TightenReport, colour: boolean): string {
  const { hints, kept, proposals } = report.result;
  const section = (title: string, entries: readonly string[]) =>
    entries.length === 0
      ? []
      : [`${paint(title, 'bold', colour)}\n${limited(entries, (more) => `  and ${more} more\n`)}`];
  const notes = report.notes.map((note) => `${paint(`note: ${printable(note)}`, 'yellow', colour)}\n`);
  const parts = [
    `${paint(printable(formatSummary(report)), 'bold', colour)}\n${notes.join('')}`,
    ...byKind(proposals).flatMap(([title, members]) =>
      section(
        title,
        members.map((one) => formatProposal(one, colour)),
      ),
    ),
    ...section(
      'Worth a look',
      hints.map(
        ({ message, evidence }) => `  ${printable(message)}\n    ${paint(formatEvidence(evidence), 'dim', colour)}\n`,
      ),
    ),
    ...section(
      'Routes without an allowed request that stay',
      kept.map(({ route, reason }) => `  ${printable(`${route}: ${reason}`)}\n`),
    ),
  ];
  return parts.join('\n');
}

function limited(entries: readonly string[], formatRest: (more: number) => string): string {
  const more = entries.length - MAX_OF_KIND;
  return entries.slice(0, MAX_OF_KIND).join('') + (more > 0 ? formatRest(more) : '');
}

function formatProposal({ proposal, needs, file, range }: LocatedProposal, colour: boolean): string {
  const { id, message, evidence, refused } = proposal;
  const place = `${printable(file)}:${range.line}:${range.column}`;
  const facts = formatEvidence(evidence, refused);
  return [
    `  ${paint(place, 'bold', colour)} ${printable(message)} ${paint(`[${printable(id)}]`, 'dim', colour)}\n`,
    `    ${paint(facts, 'dim', colour)}\n`,
    needs.length === 0 ? '' : `    ${paint(`needs ${printable(formatNeeds(needs))}`, 'dim', colour)}\n`,
  ].join('');
}

const MAX_NEEDS = 5;

function formatNeeds(needs: readonly string[]): string {
  const more = needs.length - MAX_NEEDS;
  return needs.slice(0, MAX_NEEDS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Formats a report as JSON. docs/tighten.md describes the members. */
function formatJson(report: TightenReport): string {
  const { manifest, logs, usage, counts, result, notes } = report;
  const skipped = Object.fromEntries([...counts.skipped].map(([reason, { lines }]) => [reason, lines]));
  const json = {
    version: 1,
    manifest,
    logs: { files: logs, lines: counts.lines, requests: counts.requests, skipped, days: daysOf(usage) },
    allowed: evidenceJson(usage.allowedEvidence),
    notes,
    proposals: result.proposals.map(({ proposal, needs, file, range }) => ({
      id: proposal.id,
      kind: proposal.kind,
      message: proposal.message,
      ...(proposal.route !== undefined && { route: proposal.route }),
      file,
      line: range.line,
      column: range.column,
      needs,
      evidence: { ...evidenceJson(proposal.evidence), refused: proposal.refused },
    })),
    worth_a_look: result.hints.map(({ route, message, evidence }) => ({
      route,
      message,
      evidence: evidenceJson(evidence),
    })),
    kept: result.kept,
    patch: formatPatch(report),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

function evidenceJson({ requests, callers, hasMoreCallers, from, to, logs }: Evidence) {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { requests, callers, more_callers: hasMoreCallers, from: time(from), to: time(to), logs };
}

/** Formats a report as a comment for a pull request, with the patch. */
function formatMarkdown(report: TightenReport): string {
  const { proposals, hints, kept } = report.result;
  const rows = proposals.map(({ proposal: { id, message, evidence, refused }, file, range }) => {
    const place = inlineCode(`${file}:${range.line}`);
    return `| ${tableCell(message)} (${inlineCode(id)}) | ${tableCell(formatEvidence(evidence, refused))} | ${place} |\n`;
  });
  const parts = [
    `### ${tableCell(formatSummary(report))}\n`,
    ...report.notes.map((note) => `> **Note:** ${tableCell(note)}\n`),
  ];
  if (rows.length > 0) {
    const table = limited(rows, (more) => `| and ${more} more | | |\n`);
    parts.push(
      `| proposal | evidence | location |\n|---|---|---|\n${table}`,
      `<details><summary>Patch</summary>\n\n${fence(formatPatch(report))}\n\n</details>\n`,
    );
  }
  const lists = [
    ['Worth a look', hints.map(({ message }) => message)],
    ['Routes without an allowed request that stay', kept.map(({ route, reason }) => `${route}: ${reason}`)],
  ] as const;
  for (const [title, entries] of lists)
    if (entries.length > 0)
      parts.push(
        `${title}:\n\n${limited(
          entries.map((text) => `- ${tableCell(text)}\n`),
          (more) => `- and ${more} more\n`,
        )}`,
      );
  return parts.join('\n');
}

/** A patch may contain a fence of its own. */
function fence(patch: string): string {
  const longest = Math.max(2, ...[...patch.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}diff\n${patch}${ticks}`;
}
