import { isDeepStrictEqual } from 'node:util';
import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const loginRemoved: Comparison = {
  id: 'login-removed',
  severity: 'error',
  description: 'Answers of a login are not held to the role gate any more.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.login !== undefined && pair.to.entry.login === undefined)
        yield findingAtKey(pair, 'login', 'has no login gate any more: tokens in its answers go out unchecked');
  },
};

export const loginChanged: Comparison = {
  id: 'login-changed',
  severity: 'warning',
  description: 'The tokens of a login are looked for elsewhere in its answers.',
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      const [old, next] = [pair.from.entry.login, pair.to.entry.login];
      if (old === undefined || next === undefined) continue;
      if (isDeepStrictEqual(tokenLocations(old), tokenLocations(next))) continue;
      const [before, now] = [pair.from, pair.to].map(
        ({ redactedEntry }) => tokenLocations(redactedEntry.login ?? {}).join(', ') || 'everywhere',
      );
      yield findingAtKey(pair, 'login', `looks for tokens elsewhere: ${now}; before: ${before}`);
    }
  },
};

export const loginAdded: Comparison = {
  id: 'login-added',
  severity: 'info',
  description: 'Answers of a login are held to the role gate now.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.login === undefined && pair.to.entry.login !== undefined)
        yield findingAtKey(pair, 'login', 'has a login gate now');
  },
};

type LoginTokens = { readonly token?: string | readonly string[]; readonly header?: string };

function tokenLocations({ token, header }: LoginTokens): string[] {
  return [...(token === undefined ? [] : [token].flat()), ...(header === undefined ? [] : [`header ${header}`])];
}
