import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import { changedSwitch, type Switch } from './switch-comparisons.ts';

export const loginComparison: Comparison = {
  rules: {
    'login-removed': ['error', 'The role gate no longer checks login responses.'],
    'login-loosened': ['error', 'The gateway no longer reads tokens from a location of login responses.'],
    'login-changed': ['warning', 'The gateway reads the tokens of login responses from more locations.'],
    'login-added': ['info', 'The role gate now checks login responses.'],
  },
  *find(sides) {
    yield* changedSwitch(sides, LOGIN);
    for (const pair of matchedRoutes(sides)) yield* changedLocations(pair);
  },
};

const LOGIN: Switch = {
  key: 'login',
  isOn: ({ login }) => login !== undefined,
  on: ['login-added', 'now has a login gate'],
  off: ['login-removed', 'no longer has a login gate: the gateway does not check the tokens in its responses'],
};

function* changedLocations(pair: MatchedRoutePair): Generator<DiffFinding> {
  const [old, next] = [pair.from.entry.login, pair.to.entry.login];
  if (old === undefined || next === undefined) return;
  const [oldLocations, locations] = [tokenLocations(old), tokenLocations(next)];
  if (isDeepStrictEqual(oldLocations, locations)) return;
  // Without locations, every JWT of the response must verify.
  const isLost = oldLocations.length === 0 || oldLocations.some((one) => !locations.includes(one));
  const [before, now] = [pair.from, pair.to].map(
    ({ redactedEntry }) => tokenLocations(redactedEntry.login ?? {}).join(', ') || 'the complete response',
  );
  const message = `reads tokens from another location: ${now} (was ${before})`;
  yield findingAtKey(pair, isLost ? 'login-loosened' : 'login-changed', 'login', message);
}

type LoginTokens = { readonly token?: string | readonly string[]; readonly header?: string };

function tokenLocations({ token, header }: LoginTokens): string[] {
  const pointers = token === undefined ? [] : [token].flat().sort();
  return [...pointers, ...(header === undefined ? [] : [`header ${header.toLowerCase()}`])];
}
