import { sizeBytes } from '../../../engine/manifest/units.ts';
import type { Comparisons, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, rewrittenRoutes } from '../matched-routes.ts';
import { limitWitness } from '../witnesses/sample-witnesses.ts';

export const sizeLimitComparisons: Comparisons = {
  'limit-raised': {
    severity: 'warning',
    description: 'The size limit of a request body or of a login response was raised.',
    find: (sides) => changedLimits(sides, 'higher', (old, next) => next > old),
  },
  'limit-lowered': {
    severity: 'info',
    description: 'The size limit of a request body or of a login response was lowered.',
    find: (sides) => changedLimits(sides, 'lower', (old, next) => next < old),
  },
};

const KEYS = ['body', 'login'] as const;
const MESSAGES = { body: 'request bodies', login: 'login responses' } as const;

function* changedLimits(
  sides: DiffContext,
  direction: string,
  isMatch: (old: number, next: number) => boolean,
): Generator<DiffFinding> {
  for (const pair of rewrittenRoutes(sides))
    for (const key of KEYS) {
      const [old, next] = [limitOf(pair.from, key), limitOf(pair.to, key)];
      // `login-added` and `login-removed` report these.
      if (key === 'login' && (old === undefined || next === undefined)) continue;
      if (!isMatch(limitBytes(old), limitBytes(next))) continue;
      yield findingAtKey(
        pair,
        key,
        `has a ${direction} size limit for ${MESSAGES[key]}: ${formatLimit(pair.to, key)} (was ${formatLimit(pair.from, key)})`,
        // A login response depends on the upstream, so no request shows its limit.
        key === 'body' ? limitWitness(sides, pair) : undefined,
      );
    }
}

function limitOf({ entry }: MatchedRoutePair['from'], key: (typeof KEYS)[number]): string | undefined {
  return entry[key]?.maxBytes;
}

function formatLimit({ redactedEntry }: MatchedRoutePair['from'], key: (typeof KEYS)[number]): string {
  return redactedEntry[key]?.maxBytes ?? 'unlimited';
}

function limitBytes(limit: string | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : sizeBytes(limit);
}
