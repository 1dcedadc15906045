import { isDeepStrictEqual } from 'node:util';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import { changedSwitches } from './switch-comparisons.ts';

export const loginComparisons: Comparisons = {
  'login-removed': {
    severity: 'error',
    description: 'The role gate no longer checks login responses.',
    find: (sides) =>
      changedSwitches(
        sides,
        LOGIN,
        false,
        'no longer has a login gate: the gateway does not check the tokens in its responses',
      ),
  },
  'login-loosened': {
    severity: 'error',
    description: 'The gateway no longer reads tokens from a location of login responses.',
    find: (sides) => changedLocations(sides, true),
  },
  'login-changed': {
    severity: 'warning',
    description: 'The gateway reads the tokens of login responses from more locations.',
    find: (sides) => changedLocations(sides, false),
  },
  'login-added': {
    severity: 'info',
    description: 'The role gate now checks login responses.',
    find: (sides) => changedSwitches(sides, LOGIN, true, 'now has a login gate'),
  },
};

const LOGIN = { key: 'login', isOn: ({ login }: RouteEntry) => login !== undefined };

function* changedLocations(sides: DiffContext, isLooser: boolean): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const [old, next] = [pair.from.entry.login, pair.to.entry.login];
    if (old === undefined || next === undefined) continue;
    const [oldLocations, locations] = [tokenLocations(old), tokenLocations(next)];
    if (isDeepStrictEqual(oldLocations, locations)) continue;
    // Without locations, every JWT of the response must verify.
    const isLost = oldLocations.length === 0 || oldLocations.some((one) => !locations.includes(one));
    if (isLost !== isLooser) continue;
    const [before, now] = [pair.from, pair.to].map(
      ({ redactedEntry }) => tokenLocations(redactedEntry.login ?? {}).join(', ') || 'the complete response',
    );
    yield findingAtKey(pair, 'login', `reads tokens from another location: ${now} (was ${before})`);
  }
}

type LoginTokens = { readonly token?: string | readonly string[]; readonly header?: string };

function tokenLocations({ token, header }: LoginTokens): string[] {
  const pointers = token === undefined ? [] : [token].flat().sort();
  return [...pointers, ...(header === undefined ? [] : [`header ${header.toLowerCase()}`])];
}
