import { describe, expect, it } from 'vitest';
import { type ChangeProperty, proveChange } from '../../src/prove/proof/prove-change.ts';
import { resultsOf, sideOfText } from './support.ts';

const HEAD = `version: 1
auth:
  tokens: { jwt: { jwks: https://identity.internal/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin, user], message: users only }
rateLimits: { callers: { key: subject, allow: 5 per 1m } }
`;
const UPSTREAMS = 'upstreams: { contacts: { url: https://contacts.internal } }\n';
const ROUTES = `routes:
  - { id: login, method: POST, path: /login, upstream: contacts, access: public, timeout: 5s, login: { token: /token } }
  - { id: contact, method: [GET, PUT], path: '/contacts/{id}', upstream: contacts, access: protected, timeout: 5s, rateLimits: [callers], params: { properties: { id: { type: integer } } } }
  - { id: files, method: any, path: /files/**, upstream: contacts, access: protected, timeout: 5s, rateLimits: [callers], roles: [admin] }
`;
const OLD = `${HEAD}${UPSTREAMS}${ROUTES}`;
const [, LOGIN = '', CONTACT = '', FILES = ''] = ROUTES.split('\n');

/** Other ways to write the same manifest, with the included files. */
const REFACTORINGS: Readonly<Record<string, readonly [text: string, files?: Readonly<Record<string, string>>]>> = {
  'an upstream with another name': [
    OLD.replaceAll('contacts:', 'people:').replaceAll('upstream: contacts', 'upstream: people'),
  ],
  'routes in an included file': [
    `${HEAD}${UPSTREAMS}include: more.yaml\nroutes:\n${LOGIN}\n`,
    { 'more.yaml': `routes:\n${CONTACT}\n${FILES}\n` },
  ],
  'a wildcard as named routes': [
    OLD.replace(
      FILES,
      [
        'list, method: any, path: /files',
        'own, method: any, path: /files/own',
        "one, method: any, path: '/files/{name}'",
        'files, method: any, path: /files/**',
      ]
        .map((start) => FILES.replace('files, method: any, path: /files/**', start))
        .join('\n'),
    ),
  ],
  'common values as defaults': [
    `${HEAD}${UPSTREAMS}defaults: { timeout: 5s, rateLimits: [callers] }\n${ROUTES.replaceAll('timeout: 5s, ', '').replaceAll('rateLimits: [callers], ', '').replace('access: public, ', 'access: public, rateLimits: [], ')}`,
  ],
  'a path parameter with another name': [OLD.replace('{id}', '{number}').replace('{ id: { type', '{ number: { type')],
  'routes in another order': [`${HEAD}${UPSTREAMS}routes:\n${FILES}\n${CONTACT}\n${LOGIN}\n`],
};

const PROPERTIES: readonly ChangeProperty[] = ['no-new-access', 'equivalent'];
const TESTS = Object.entries(REFACTORINGS).flatMap(([name, change]) =>
  PROPERTIES.map((property) => ({ name, change, property })),
);

describe('a refactoring', () => {
  const old = sideOfText('old.yaml', OLD);

  it.each(TESTS)('is proven: $property of $name', async ({ change: [text, files], property }) => {
    expect(text).not.toBe(OLD);
    const next = sideOfText('new.yaml', text, files);
    for (const [before, now] of [
      [old, next],
      [next, old],
    ] as const) {
      const { holds, differences } = await proveChange(before, now, property);
      expect(differences).toEqual([]);
      expect(holds).toBe(true);
    }
  });

  it('is not proven if one of the named routes lost a role check', async () => {
    const [text] = REFACTORINGS['a wildcard as named routes'] ?? [''];
    const next = sideOfText('new.yaml', text.replace('roles: [admin]', 'roles: [admin, user]'));
    const { shown } = resultsOf(await proveChange(old, next, 'equivalent'));
    expect(shown.map(({ rule, witness }) => [rule, witness?.request?.url, witness?.request?.role])).toContainEqual([
      'role-widened',
      '/files',
      'user',
    ]);
  });
});
