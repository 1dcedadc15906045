import { isDeepStrictEqual } from 'node:util';
import type { Comparison } from '../difference.ts';
import { atKey, successions } from './changed-routes.ts';

export const loginRemoved: Comparison = {
  id: 'login-removed',
  severity: 'error',
  what: 'Answers of a login are not held to the role gate any more.',
  *find(sides) {
    for (const pair of successions(sides))
      if (pair.from.entry.login !== undefined && pair.to.entry.login === undefined)
        yield atKey(pair, 'login', 'has no login gate any more: tokens in its answers go out unchecked');
  },
};

export const loginChanged: Comparison = {
  id: 'login-changed',
  severity: 'warning',
  what: 'The tokens of a login are looked for elsewhere in its answers.',
  *find(sides) {
    for (const pair of successions(sides)) {
      const [old, next] = [pair.from.entry.login, pair.to.entry.login];
      if (old === undefined || next === undefined) continue;
      if (isDeepStrictEqual(placesOf(old), placesOf(next))) continue;
      const [before, now] = [pair.from, pair.to].map(
        ({ shown }) => placesOf(shown.login ?? {}).join(', ') || 'everywhere',
      );
      yield atKey(pair, 'login', `looks for tokens elsewhere: ${now}; before: ${before}`);
    }
  },
};

export const loginAdded: Comparison = {
  id: 'login-added',
  severity: 'info',
  what: 'Answers of a login are held to the role gate now.',
  *find(sides) {
    for (const pair of successions(sides))
      if (pair.from.entry.login === undefined && pair.to.entry.login !== undefined)
        yield atKey(pair, 'login', 'has a login gate now');
  },
};

type Login = { readonly token?: string | readonly string[]; readonly header?: string };

function placesOf({ token, header }: Login): string[] {
  return [...(token === undefined ? [] : [token].flat()), ...(header === undefined ? [] : [`header ${header}`])];
}
