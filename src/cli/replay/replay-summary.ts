import { printable } from '../../engine/problem/problem.ts';
import type { TextRow } from '../../report/report.ts';
import { pluralize } from '../../report/text.ts';
import type { LogLine } from '../../traffic/access-log/logged-request.ts';
import type { ChangeKind } from '../../traffic/compare-outcomes.ts';
import type { ComparisonReport } from '../../traffic/comparison.ts';
import type { ReplayReport } from '../../traffic/replay/replay.ts';
import type { UnusedReport } from '../../traffic/replay/unused-routes.ts';
import type { ChangeCounts } from '../change-formats.ts';

/** The result of a replay, as the formats show it. All numbers are requests, which sampled lines stand for several of. */
export type ReplaySummary = ReturnType<typeof createReplaySummary>;

type ComparedRequests = ReturnType<typeof comparedRequests>;

/** Requests that change in the same way, or that the old manifest does not reproduce. */
export type ReplayGroup = ComparedRequests['groups'][number];

/** The unused parts that a person reads. The JSON format has all of them. */
const MAX_UNUSED = 100;

/** Below this, the log was probably written by another manifest. */
const MIN_CALIBRATION_PERCENT = 95;

export function createReplaySummary(
  report: ReplayReport,
  names: { readonly old: string; readonly next: string; readonly logs: readonly string[] },
) {
  const { calibration, comparison, firstTime, lastTime, lines, linesWithoutFacts, otherManifests } = report;
  const compared = comparedRequests(comparison);
  const unknown = [...comparison.unknown.values()].reduce((sum, count) => sum + count, 0);
  const counts: ChangeCounts = {
    requests: compared.requests,
    unknown: Math.round(unknown),
    kinds: compared.changed,
  };
  return {
    ...names,
    lines,
    firstTime: toTime(firstTime),
    lastTime: toTime(lastTime),
    linesWithoutFacts,
    otherManifests,
    // The share of the requests with a known outcome that the old manifest reproduces, in percent.
    calibration: { ...comparedRequests(calibration), percent: percentOf(calibration) },
    ...compared,
    unused: report.unused,
    counts,
  };
}

function comparedRequests({ requests, same, unknown, changed, groups, ungrouped }: ComparisonReport<LogLine>) {
  const changedCounts: Partial<Record<ChangeKind, number>> = Object.fromEntries(
    [...changed].map(([kind, count]) => [kind, atLeastOne(count)]),
  );
  return {
    requests: Math.round(requests),
    same: Math.round(same),
    // The highest first.
    unknown: Object.fromEntries(
      [...unknown].sort(([, a], [, b]) => b - a).map(([key, count]) => [key, atLeastOne(count)]),
    ),
    changed: changedCounts,
    groups: groups.map(({ witnesses, ...group }) => ({
      ...group,
      requests: atLeastOne(group.requests),
      // The first ones, as `access.log:12`.
      lines: witnesses.map(({ source, line }) => `${source}:${line}`),
    })),
    ungrouped: Math.round(ungrouped),
  };
}

/** Rounds the sum of the weights. */
function atLeastOne(requests: number): number {
  return Math.max(1, Math.round(requests));
}

/** Rounds down, so that 100 means all. */
function percentOf({ same, changed }: ComparisonReport<LogLine>): number {
  const others = [...changed.values()].reduce((sum, count) => sum + count, 0);
  return others === 0 ? 100 : Math.floor((1000 * same) / (same + others)) / 10;
}

function toTime(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}

/** Returns the counts in one line: `1000: 990 same, 8 changed, 2 unknown`. */
export function countsText({ requests, same, changed, unknown }: ComparedRequests): string {
  return `${requests}: ${same} same, ${sumOf(changed)} changed, ${sumOf(unknown)} unknown`;
}

export function sumOf(counts: Readonly<Record<string, number | undefined>>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

export function calibrationText({ calibration, old }: ReplaySummary): string {
  const { percent, same, changed } = calibration;
  const total = same + sumOf(changed);
  return `${old} reproduces ${percent} % of ${pluralize(total, 'request')} with a known outcome`;
}

/** Returns the facts that make a replay less certain. */
export function notesOf({ otherManifests, linesWithoutFacts, lines, old }: ReplaySummary): string[] {
  const notes = otherManifests.map(
    ({ hash, lines, first }) =>
      `another manifest than ${old} wrote ${pluralize(lines, 'line')}: its hash begins with ${hash}, first at ${first.source}:${first.line}`,
  );
  if (linesWithoutFacts > 0)
    notes.push(
      `${linesWithoutFacts} of ${pluralize(lines, 'line')} lack the facts of log.replay; set log: { replay: true }`,
    );
  return notes;
}

/** Returns the routes, methods and roles that no request used, by the kind of each; `undefined` if all are used. */
export function unusedParts({ old, unused: { sampled, routes, methods, roles } }: ReplaySummary): TextRow | undefined {
  const byRoute = (noun: string, parts: UnusedReport['methods']) =>
    Object.entries(parts).map(([route, names]) => [noun, `${route}: ${names.join(', ')}`] as const);
  const facts = [
    ...routes.map((route) => ['route', route] as const),
    ...byRoute('methods', methods),
    ...byRoute('roles', roles),
  ];
  if (facts.length === 0) return undefined;
  const note = 'the logs have only a share of the requests (log.sample2xx), so a use may be missing';
  const omitted = facts.length - MAX_UNUSED;
  return {
    rule: 'unused',
    severity: 'info',
    message: `in ${old}: no allowed request of the logs used these routes, methods and roles`,
    facts: [
      ...(sampled ? [['note', note] as const] : []),
      ...facts.slice(0, MAX_UNUSED),
      ...(omitted > 0 ? [['more', `and ${omitted} more; use -f json`] as const] : []),
    ],
  };
}

/** Returns a warning if the log was probably written by another manifest than the old one. */
export function calibrationWarning({ calibration, old }: ReplaySummary): string | undefined {
  const { percent } = calibration;
  if (percent >= MIN_CALIBRATION_PERCENT) return undefined;
  return `${printable(old)} reproduces only ${percent} % of the logged outcomes, so another manifest probably wrote the logs; name that one with --from`;
}
