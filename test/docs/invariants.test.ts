import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadText } from '../manifest/support.ts';
import { expectConsoles } from '../support/console.ts';

const page = readFileSync(new URL('../../docs/invariants.md', import.meta.url), 'utf8');
const [first = '', , , rules = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
const AUTH = `auth:
  tokens: { jwt: { jwks: 'https://identity.example/keys', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin, user], message: no }
`;

describe('docs/invariants.md', () => {
  it('begins with an invariant that holds, and shows the report if the route becomes public', () => {
    expect(loadText(first).problems).toEqual([]);
    const broken = loadText(first.replace(/(id: account,.*access: )protected/, '$1public'));
    const [, message = ''] = /^```text\n([\s\S]*?)\n^```$/m.exec(page) ?? [];
    expect(broken.problems.map((problem) => problem.message)).toEqual([message]);
  });

  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/invariants.md')).toBe(2);
  });

  const { invariants } = parse(rules) as { invariants: { id: string }[] };
  const GOOD = `
  - { id: login, method: POST, path: /login, upstream: identity, access: public, rateLimits: [logins], body: { maxBytes: 1KB, schema: { type: object } } }
  - { id: health, method: GET, path: /health, upstream: contacts, access: public }
  - { id: contacts, method: [GET, POST], path: '/api/contacts/{id}', upstream: contacts, access: protected, body: { maxBytes: 1MB } }
  - { id: settings, method: PUT, path: /api/company/settings, upstream: identity, access: protected, roles: [admin], body: { maxBytes: 1KB } }
  - { id: accounts, method: GET, path: '/accounts/{id}', upstream: identity, access: protected }`;
  /** A route that breaks each invariant. */
  const BREAKING: Readonly<Record<string, string>> = {
    'nothing-else-is-public': '{ id: open, method: GET, path: /open, upstream: contacts, access: public }',
    'writes-need-a-token':
      '{ id: health, method: [GET, POST], path: /api/health, upstream: contacts, access: public, rateLimits: [logins], body: { maxBytes: 1KB, schema: { type: object } } }',
    'settings-by-admins':
      '{ id: more, method: PATCH, path: /api/company/more, upstream: identity, access: protected, body: { maxBytes: 1KB } }',
    'users-may-read':
      '{ id: export, method: GET, path: /api/contacts/export, upstream: contacts, access: protected, roles: [admin] }',
    'public-writes-are-limited':
      '{ id: health, method: [GET, POST], path: /health, upstream: contacts, access: public }',
    'nothing-below-internal': '{ id: internal, method: GET, path: /internal/x, upstream: contacts, access: protected }',
    'accounts-stay-at-identity':
      "{ id: rest, method: GET, path: '/{any}/{id}', upstream: contacts, access: protected }",
    'bodies-are-small':
      '{ id: big, method: POST, path: /api/big, upstream: contacts, access: protected, body: { maxBytes: 2MB } }',
    'violations-are-refused':
      '{ id: report, method: GET, path: /report, upstream: contacts, access: protected, validation: report }',
    'no-sockets': '{ id: socket, method: GET, path: /socket, upstream: contacts, access: protected, websocket: true }',
  };

  it('has invariants for which each a route is known that breaks it', () => {
    expect(Object.keys(BREAKING)).toEqual(invariants.map(({ id }) => id));
  });

  const problemsOf = (routes: string) =>
    loadText(`version: 1
upstreams: { identity: { url: http://127.0.0.1:7001 }, contacts: { url: http://127.0.0.1:7002 } }
rateLimits: { logins: { key: client, allow: 5 per 1m } }
${AUTH}${rules}routes:${routes}\n`).problems;

  it('has invariants that hold for a good manifest', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });

  it.each(Object.entries(BREAKING))('has the invariant %s, which such a route breaks', (id, route) => {
    const [, name] = /id: ([a-z-]+)/.exec(route) ?? [];
    const routes = GOOD.split('\n').filter((line) => !line.includes(`id: ${name},`));
    const broken = problemsOf(`${routes.join('\n')}\n  - ${route}`);
    expect(broken.map(({ rule }) => rule)).toContain('invariant-broken');
    expect(broken.some(({ message }) => message.startsWith(`"${id}"`))).toBe(true);
  });
});
