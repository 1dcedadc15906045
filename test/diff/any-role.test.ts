import { expect, test } from 'vitest';
import { differencesOf } from './support.ts';

const CLAIM = { claim: '/role', allow: ['admin', 'user'], message: 'no' };

const manifestOf = (role: unknown, roles?: unknown) => ({
  version: 1,
  upstreams: { up: { url: 'http://127.0.0.1:9' } },
  auth: { tokens: { jwt: { jwks: 'https://a/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } }, role },
  routes: [
    {
      id: 'me',
      method: 'GET',
      path: '/me',
      upstream: 'up',
      access: 'protected',
      ...(roles === undefined ? {} : { roles }),
    },
  ],
});

test.each([
  ['auth.role', manifestOf(CLAIM), manifestOf('any'), 'these roles are now allowed: any', 'any'],
  ['roles', manifestOf(CLAIM), manifestOf(CLAIM, 'any'), 'the route "me" now allows these roles: any', 'any'],
  [
    'a list',
    manifestOf(CLAIM, ['admin']),
    manifestOf(CLAIM, 'any'),
    'the route "me" now allows these roles: any',
    'any',
  ],
])('diff calls any role in %s wider, and the reverse narrower', (_place, less, more, message) => {
  expect(differencesOf(less, more)).toMatchObject([{ rule: 'role-widened', message }]);
  expect(differencesOf(more, less)).toMatchObject([{ rule: 'role-narrowed' }]);
  expect(differencesOf(more, more)).toEqual([]);
});

test('diff finds no difference between the default form of a role and the written one', () => {
  expect(differencesOf(manifestOf(CLAIM), manifestOf({ ...CLAIM, array: false, format: 'one' }))).toEqual([]);
});
