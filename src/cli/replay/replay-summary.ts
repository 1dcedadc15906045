import { printable } from '../../engine/problem/printable.ts';
import { pluralize } from '../../report/text.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../traffic/compare-outcomes.ts';
import type { ComparisonReport } from '../../traffic/comparison.ts';
import type { OutcomeReport } from '../../traffic/outcome.ts';
import type { LineWitness, OtherManifest, ReplayReport } from '../../traffic/replay/replay.ts';
import type { ChangeCounts } from '../fail-on.ts';

/** Requests that change in the same way, or that the old manifest does not reproduce. */
export interface ReplayGroup {
  readonly kind: ChangeKind;
  readonly from: OutcomeReport;
  readonly to: OutcomeReport;
  readonly requests: number;
  readonly callers: number;
  /** The first lines, as `access.log:12`. */
  readonly lines: readonly string[];
}

interface ComparedRequests {
  readonly requests: number;
  readonly same: number;
  /** The numbers of requests by reason, the highest first. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly changed: Readonly<Partial<Record<ChangeKind, number>>>;
  readonly groups: readonly ReplayGroup[];
  readonly ungrouped: number;
}

/** The result of a replay, as the formats show it. All numbers are requests, which sampled lines stand for several of. */
export interface ReplaySummary extends ComparedRequests {
  readonly old: string;
  readonly next: string;
  readonly logs: readonly string[];
  readonly lines: number;
  readonly firstTime: string | null;
  readonly lastTime: string | null;
  readonly linesWithoutFacts: number;
  readonly otherManifests: readonly OtherManifest[];
  readonly calibration: ComparedRequests & {
    /** The share of the requests with a known outcome that the old manifest reproduces, in percent. */
    readonly percent: number;
  };
  readonly counts: ChangeCounts;
}

/** Below this, the log was probably written by another manifest. */
const MIN_CALIBRATION_PERCENT = 95;

export function createReplaySummary(
  report: ReplayReport,
  names: Pick<ReplaySummary, 'old' | 'next' | 'logs'>,
): ReplaySummary {
  const { calibration, comparison, firstTime, lastTime, lines, linesWithoutFacts, otherManifests } = report;
  const compared = comparedRequests(comparison);
  const unknown = [...comparison.unknown.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...names,
    lines,
    firstTime: toTime(firstTime),
    lastTime: toTime(lastTime),
    linesWithoutFacts,
    otherManifests,
    calibration: { ...comparedRequests(calibration), percent: percentOf(calibration) },
    ...compared,
    counts: { requests: compared.requests, unknown: Math.round(unknown), kinds: compared.changed },
  };
}

function comparedRequests(report: ComparisonReport<LineWitness>): ComparedRequests {
  const { requests, same, unknown, changed, groups, ungrouped } = report;
  return {
    requests: Math.round(requests),
    same: Math.round(same),
    unknown: Object.fromEntries(
      [...unknown].sort(([, a], [, b]) => b - a).map(([key, count]) => [key, atLeastOne(count)]),
    ),
    changed: Object.fromEntries([...changed].map(([kind, count]) => [kind, atLeastOne(count)])),
    groups: groups.map(({ witnesses, ...group }) => ({
      ...group,
      requests: atLeastOne(group.requests),
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
function percentOf({ same, changed }: ComparisonReport<LineWitness>): number {
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

/** Returns the calibration in one line. */
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

/** Returns a warning if the log was probably written by another manifest than the old one; otherwise an empty text. */
export function formatCalibrationWarning({ calibration, old }: ReplaySummary): string {
  const { percent } = calibration;
  if (percent >= MIN_CALIBRATION_PERCENT) return '';
  return `signing-gateway: ${printable(old)} reproduces only ${percent} % of the logged outcomes, so another manifest probably wrote the logs; name that one with --from\n`;
}

/** Returns the meaning of a change and its routes: `newly-refused: the gateway refuses …`. */
export function meaningOf(kind: ChangeKind): string {
  return CHANGE_KINDS[kind];
}
