import { sizeBytes } from '../../../engine/manifest/units.ts';
import type { Comparison, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, rewrittenRoutes } from '../matched-routes.ts';
import { limitWitness } from '../witnesses/sample-witnesses.ts';

export const sizeLimitComparison: Comparison = {
  rules: {
    'limit-raised': ['warning', 'The size limit of a request body or of a login response was raised.'],
    'limit-lowered': ['info', 'The size limit of a request body or of a login response was lowered.'],
  },
  *find(sides) {
    for (const pair of rewrittenRoutes(sides)) for (const key of KEYS) yield* changedLimit(sides, pair, key);
  },
};

const KEYS = ['body', 'login'] as const;
const MESSAGES = { body: 'request bodies', login: 'login responses' } as const;

type Key = (typeof KEYS)[number];

function* changedLimit(sides: DiffContext, pair: MatchedRoutePair, key: Key): Generator<DiffFinding> {
  const [old, next] = [limitOf(pair.from, key), limitOf(pair.to, key)];
  // `login-added` and `login-removed` report these.
  if (key === 'login' && (old === undefined || next === undefined)) return;
  const [before, now] = [limitBytes(old), limitBytes(next)];
  if (before === now) return;
  const [rule, change] = now > before ? ['limit-raised', 'higher'] : ['limit-lowered', 'lower'];
  const limits = `${formatLimit(pair.to, key)} (was ${formatLimit(pair.from, key)})`;
  // A login response depends on the upstream, so no request shows its limit.
  const witness = key === 'body' ? limitWitness(sides, pair) : undefined;
  yield findingAtKey(pair, rule, key, `has a ${change} size limit for ${MESSAGES[key]}: ${limits}`, witness);
}

function limitOf({ entry }: MatchedRoutePair['from'], key: Key): string | undefined {
  return entry[key]?.maxBytes;
}

function formatLimit({ redactedEntry }: MatchedRoutePair['from'], key: Key): string {
  return redactedEntry[key]?.maxBytes ?? 'unlimited';
}

function limitBytes(limit: string | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : sizeBytes(limit);
}
