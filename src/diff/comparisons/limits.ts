import { sizeBytes } from '../../manifest/units.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const limitRaised: Comparison = {
  id: 'limit-raised',
  severity: 'warning',
  description: 'A body may be longer: of a request, or of the answer to a login.',
  find: (sides) => changedLimits(sides, (old, next) => next > old),
};

export const limitLowered: Comparison = {
  id: 'limit-lowered',
  severity: 'info',
  description: 'A body must be shorter: of a request, or of the answer to a login.',
  find: (sides) => changedLimits(sides, (old, next) => next < old),
};

const KEYS = ['body', 'login'] as const;
const WHOSE = { body: 'a body', login: 'the answer to a login' } as const;

function* changedLimits(sides: DiffContext, isTold: (old: number, next: number) => boolean): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides))
    for (const key of KEYS) {
      const [old, next] = [limitOf(pair.from, key), limitOf(pair.to, key)];
      // A gate that came or went is told of as such.
      if (key === 'login' && (old === undefined || next === undefined)) continue;
      if (!isTold(limitBytes(old), limitBytes(next))) continue;
      yield findingAtKey(
        pair,
        key,
        `lets ${WHOSE[key]} be ${formatLimit(pair.to, key)}, before ${formatLimit(pair.from, key)}`,
      );
    }
}

function limitOf({ entry }: MatchedRoutePair['from'], key: (typeof KEYS)[number]): string | undefined {
  return entry[key]?.maxBytes;
}

function formatLimit({ redactedEntry }: MatchedRoutePair['from'], key: (typeof KEYS)[number]): string {
  return redactedEntry[key] === undefined ? 'as long as it is' : `${redactedEntry[key].maxBytes} long`;
}

function limitBytes(limit: string | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : sizeBytes(limit);
}
