import { inlineCode, tableCell } from '../../report/markdown.ts';
import { pluralize } from '../../report/text.ts';
import { decisionText, entriesOf } from '../candidate/candidate-text.ts';
import type { ReplayResult } from './replay-formats.ts';
import {
  calibrationText,
  formatCalibrationWarning,
  notesOf,
  type ReplayGroup,
  type ReplaySummary,
  sumOf,
} from './replay-summary.ts';

/** A comment of a pull request has at most 65,536 characters, and a row may have 400. */
const MAX_ROWS = 50;

/** Formats the result as a comment for a pull request. */
export function formatReplayMarkdown({ summary }: ReplayResult): string {
  const { requests, changed, unknown, calibration, groups } = summary;
  const title = `### Replay of ${pluralize(requests, 'request')}: ${sumOf(changed)} changed, ${sumOf(unknown)} unknown\n`;
  const parts = [
    title,
    introduction(summary),
    countTable('change', entriesOf(changed)),
    groupTable(['before', 'after'], groups),
    countTable('unknown', entriesOf(unknown)),
    calibration.groups.length === 0
      ? ''
      : `Not reproduced:\n\n${groupTable(['logged', 'replayed'], calibration.groups)}`,
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function introduction(summary: ReplaySummary): string {
  const { old, next, firstTime, lastTime } = summary;
  const warning = formatCalibrationWarning(summary).replace('signing-gateway: ', '').trim();
  const sentences = [
    `${inlineCode(old)} → ${inlineCode(next)}, from ${firstTime} to ${lastTime}.`,
    `${tableCell(calibrationText(summary))}.`,
    ...notesOf(summary).map((note) => `${tableCell(note)}.`),
    ...(warning === '' ? [] : [`**Warning:** ${tableCell(warning)}.`]),
  ];
  return `${sentences.join(' ')}\n`;
}

function countTable(name: string, counts: readonly (readonly [string, number])[]): string {
  if (counts.length === 0) return '';
  const rows = counts.map(([text, count]) => `| ${tableCell(text)} | ${count} |\n`);
  return `| ${name} | requests |\n|---|--:|\n${rows.join('')}`;
}

function groupTable([before, after]: readonly [string, string], groups: readonly ReplayGroup[]): string {
  if (groups.length === 0) return '';
  const rows = groups.slice(0, MAX_ROWS).map(({ kind, from, to, requests, callers, lines }) => {
    const decisions = `${tableCell(decisionText(from))} | ${tableCell(decisionText(to))}`;
    return `| ${kind} | ${decisions} | ${requests} | ${callers} | ${inlineCode(lines.join(', '))} |\n`;
  });
  const omitted = groups.length - rows.length;
  const more = omitted <= 0 ? '' : `| | and ${omitted} more | | | | |\n`;
  return `| change | ${before} | ${after} | requests | callers | lines |\n|---|---|---|--:|--:|---|\n${rows.join('')}${more}`;
}
