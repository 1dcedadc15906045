import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { LogCounts } from '../access-log/log-counts.ts';
import type { Usage } from './usage.ts';

const MS_PER_DAY = 86_400_000;

/** The smallest log that proposals are made from without a warning. */
export interface LogMinimum {
  readonly requests: number;
  readonly days: number;
}

/** The days between the first and the last request. */
export function daysOf({ all: { from, to } }: Pick<Usage, 'all'>): number {
  return from === undefined || to === undefined ? 0 : Math.round((10 * (to - from)) / MS_PER_DAY) / 10;
}

/** Returns why the log may lack requests that the manifest must allow: sentences for a person. */
export function usageNotes(
  usage: Usage,
  {
    minimum,
    counts,
    manifest,
    refusedToday,
  }: {
    readonly minimum: LogMinimum;
    readonly counts: LogCounts;
    readonly manifest: Manifest;
    readonly refusedToday: number;
  },
): string[] {
  const { requests } = usage.allowedEvidence;
  const days = daysOf(usage);
  const isShort = days < minimum.days || requests < minimum.requests;
  const invalid = counts.skipped.get('truncated')?.lines ?? 0;
  const rows: readonly (readonly [applies: boolean, note: string])[] = [
    [
      requests === 0,
      'the log has no request that this manifest allows, so nothing is proposed; name logs of its gateway',
    ],
    [
      requests > 0 && isShort,
      `the log is short: ${number(requests)} allowed requests in ${days} days, fewer than ${number(minimum.requests)} or than ${minimum.days} days; a rare use may be missing, so compare with a longer log`,
    ],
    [
      usage.isSampled,
      'the log has only a share of the requests (log.sample2xx), so nothing is proposed that needs their absence; set log.sample2xx to 1',
    ],
    [
      requests > 0 && !usage.hasReplay,
      'the log has no roles and media types, so none are proposed for removal; set log.replay to true',
    ],
    [
      usage.otherManifestLines > 0,
      `${number(usage.otherManifestLines)} lines were logged under another version of the manifest; what is newer than the log looks unused`,
    ],
    [usage.otherRouteLines > 0, `${number(usage.otherRouteLines)} allowed requests match another route today, or none`],
    [refusedToday > 0, 'some requests that were allowed are refused by this manifest today; they do not count'],
    [counts.failures.length > 0 || invalid > 0, 'a log could not be read completely; the missing lines may show a use'],
    [
      manifest.reload.selfTest !== undefined,
      `the self-test "${manifest.reload.selfTest}" may have cases for what is removed; run "signing-gateway test" on the result`,
    ],
  ];
  return rows.filter(([applies]) => applies).map(([, note]) => note);
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
