import { printable } from '../../engine/problem/printable.ts';
import { paint, pluralize, STYLES } from '../../report/text.ts';
import { callersText, decisionText, entriesOf } from '../candidate/candidate-text.ts';
import type { ReplayResult } from './replay-formats.ts';
import { calibrationText, countsText, notesOf, type ReplayGroup } from './replay-summary.ts';

/** The groups that a person reads. The JSON format has all of them. */
const MAX_GROUPS = 50;
const MAX_CALIBRATION_GROUPS = 5;

/** Formats the result for a person: the calibration, the counts and the changes, the most severe ones first. */
export function formatReplayText({ summary }: ReplayResult, colour: boolean): string {
  const { calibration, groups, unknown, firstTime, lastTime, next } = summary;
  const rows = [
    ['calibration', calibrationText(summary)],
    ...notesOf(summary).map((note) => ['note', note]),
    ['replayed', `by ${next}, from ${firstTime} to ${lastTime}`],
    ['requests', countsText(summary)],
    ...(Object.keys(unknown).length === 0 ? [] : [['unknown', reasonsText(unknown)]]),
  ];
  const head = rows.map(([key = '', text = '']) => formatRow(key, text, colour)).join('');
  const missed = calibration.groups.slice(0, MAX_CALIBRATION_GROUPS);
  const parts = [
    head,
    ...missed.map((group) => formatGroup(group, 'not reproduced', ['logged', 'replayed'], colour)),
    ...groups.slice(0, MAX_GROUPS).map((group) => formatGroup(group, group.kind, ['before', 'after'], colour)),
    ...(groups.length > MAX_GROUPS ? [`and ${groups.length - MAX_GROUPS} more kinds of changes; use -f json\n`] : []),
  ];
  return parts.join('\n');
}

/** Returns the reasons with their numbers of requests: `token 12, body 3`. */
export function reasonsText(unknown: Readonly<Record<string, number>>): string {
  return entriesOf(unknown)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ');
}

function formatRow(key: string, text: string, colour: boolean): string {
  return `${paint(key.padEnd(12), 'dim', colour)} ${printable(text)}\n`;
}

function formatGroup(
  { kind, from, to, requests, callers, lines }: ReplayGroup,
  title: string,
  [before, after]: readonly [string, string],
  colour: boolean,
): string {
  const style = STYLES[kind === 'newly-refused' || kind === 'newly-allowed' ? 'error' : 'warning'];
  return [
    `${paint(title, style, colour)} ${pluralize(requests, 'request')} of ${callersText(callers)}\n`,
    ...[
      [before, decisionText(from)],
      [after, decisionText(to)],
      ['lines', lines.join(', ')],
    ].map(([key = '', text = '']) => `  ${formatRow(key, text, colour)}`),
  ].join('');
}
