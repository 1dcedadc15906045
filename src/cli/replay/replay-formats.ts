import type { Document } from '../../engine/manifest/document.ts';
import type { FindingLocation } from '../../engine/problem/finding.ts';
import { formatJunit } from '../../report/junit.ts';
import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { entriesOf, type Facts, type TextRow, toJson } from '../../report/report.ts';
import { formatSarif } from '../../report/sarif.ts';
import { formatText, pluralize } from '../../report/text.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../traffic/compare-outcomes.ts';
import {
  CHANGE_SEVERITIES,
  changeRow,
  changeTable,
  countTable,
  MAX_CHANGES,
  omittedText,
  outcomeText,
  reasonsText,
  requestsText,
} from '../change-formats.ts';
import { version } from '../version.ts';
import {
  calibrationText,
  calibrationWarning,
  countsText,
  notesOf,
  type ReplayGroup,
  type ReplaySummary,
  sumOf,
  unusedParts,
} from './replay-summary.ts';

interface ReplayResult {
  readonly summary: ReplaySummary;
  /** The conditions of `--fail-on` that occurred. */
  readonly failures: readonly string[];
  /** The new manifest. */
  readonly document: Document;
}

type FormatReplay = (result: ReplayResult, colour: boolean) => string;

export const REPLAY_FORMATS = {
  pretty: formatReplayText,
  json: formatReplayJson,
  markdown: formatReplayMarkdown,
  sarif: formatReplaySarif,
  junit: formatReplayJunit,
} as const satisfies Record<string, FormatReplay>;

/** The names of the outcomes that are compared. */
const NAMES = ['before', 'after'] as const;
const CALIBRATION_NAMES = ['logged', 'replayed'] as const;
const KINDS = Object.keys(CHANGE_KINDS) as ChangeKind[];

/** A person reads no more. The JSON format has all of them. */
const MAX_CALIBRATION_GROUPS = 5;

/** Formats the result for a person: the calibration, the counts and the changes, the most severe ones first. */
function formatReplayText({ summary }: ReplayResult, colour: boolean): string {
  const { calibration, groups, unknown, firstTime, lastTime, next } = summary;
  const reasons = reasonsText(entriesOf(unknown));
  const facts: Facts = [
    ['calibration', calibrationText(summary)],
    ...notesOf(summary).map((note) => ['note', note] as const),
    ['replayed', `by ${next}, from ${firstTime} to ${lastTime}`],
    ['requests', countsText(summary)],
    ...(reasons === '' ? [] : [['unknown', reasons] as const]),
  ];
  const unused = unusedParts(summary);
  const linesOf = ({ lines }: ReplayGroup): Facts => [['lines', lines.join(', ')]];
  const rows = [
    ...calibration.groups
      .slice(0, MAX_CALIBRATION_GROUPS)
      .map((group) => ({ ...changeRow(group, CALIBRATION_NAMES, linesOf(group)), rule: 'not reproduced' })),
    ...groups.slice(0, MAX_CHANGES).map((group) => changeRow(group, NAMES, linesOf(group))),
    ...(unused === undefined ? [] : [unused]),
  ];
  return formatText(facts, rows, omittedText(groups), colour);
}

/** docs/replay.md describes the members. */
function formatReplayJson({ summary: { counts: _counts, next, ...summary } }: ReplayResult): string {
  return toJson({ version: 1, new: next, ...summary });
}

/** Formats the result as a comment for a pull request. */
function formatReplayMarkdown({ summary }: ReplayResult): string {
  const { old, next, firstTime, lastTime, requests, changed, unknown, calibration, groups } = summary;
  const warning = calibrationWarning(summary);
  const sentences = [
    `${inlineCode(old)} → ${inlineCode(next)}, from ${firstTime} to ${lastTime}.`,
    ...[calibrationText(summary), ...notesOf(summary)].map((text) => `${tableCell(text)}.`),
    ...(warning === undefined ? [] : [`**Warning:** ${tableCell(warning)}.`]),
  ];
  const unused = unusedParts(summary);
  const lines = (group: ReplayGroup) => inlineCode(group.lines.join(', '));
  return formatMarkdown(
    `Replay of ${pluralize(requests, 'request')}: ${sumOf(changed)} changed, ${sumOf(unknown)} unknown`,
    `${sentences.join(' ')}\n`,
    countTable('change', entriesOf(changed)),
    changeTable(groups, NAMES, { lines }),
    countTable('unknown', entriesOf(unknown)),
    ...(calibration.groups.length === 0
      ? []
      : ['Not reproduced:\n', changeTable(calibration.groups, CALIBRATION_NAMES, { lines })]),
    ...(unused === undefined ? [] : [`Unused ${tableCell(unused.message)}.\n`, unusedTable(unused)]),
  );
}

function unusedTable({ facts = [] }: TextRow): string {
  return markdownTable(facts, { unused: ([kind]) => kind, names: ([, text]) => tableCell(text) });
}

/** Formats a result for each group, at the route in the new manifest. */
function formatReplaySarif({ summary, document }: ReplayResult): string {
  return formatSarif({
    verb: 'replay',
    tool: { name: 'signing-gateway replay', semanticVersion: version },
    rules: KINDS.map((id) => ({ id, shortDescription: { text: CHANGE_KINDS[id] } })),
    rows: summary.groups.map((group) => {
      const { kind, from, to, lines } = group;
      const where = locationOf(to.route ?? from.route, document);
      return {
        rule: kind,
        severity: CHANGE_SEVERITIES[kind],
        message: `${changeText(group)}; see ${lines.join(', ')}`,
        file: document.fileOf(where),
        range: document.locate(where),
      };
    }),
  });
}

/** Returns the location of a route; that of all routes if the manifest does not have it. */
function locationOf(id: string | null, document: Document): FindingLocation {
  const { routes } = document.value as { readonly routes: readonly { readonly id?: unknown }[] };
  const index = routes.findIndex((route) => route.id === id);
  return index === -1 ? { path: ['routes'], at: 'key' } : { path: ['routes', index, 'id'], at: 'value' };
}

/** Formats a case for each kind of change, one for unknown outcomes and one for the calibration. */
function formatReplayJunit({ summary, failures }: ReplayResult): string {
  const { next, groups, unknown } = summary;
  const caseOf = (name: string, text: string) => {
    const message = failures.find((failure) => failure.startsWith(`${name}: `));
    return { name, file: next, text, failure: message === undefined ? undefined : { message } };
  };
  const cases = KINDS.map((kind) => {
    const lines = groups
      .filter((group) => group.kind === kind)
      .map((group) => `${changeText(group)} (${group.lines.join(', ')})`);
    return caseOf(kind, lines.join('\n'));
  });
  const last = [caseOf('unknown', reasonsText(entriesOf(unknown))), caseOf('calibration', calibrationText(summary))];
  return formatJunit('signing-gateway replay', [{ name: next, cases: [...cases, ...last] }]);
}

function changeText({ from, to, ...group }: ReplayGroup): string {
  return `${requestsText(group)}: ${outcomeText(from)}, now ${outcomeText(to)}`;
}
