import { describe, expect, it } from 'vitest';
import { load } from '../../src/load.ts';
import { changesBetween } from '../../src/plan/changes.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { worldOf } from '../support/gateway.ts';

function planOf(routes: string, url = 'http://127.0.0.1:1'): Plan {
  const auth = `auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:1', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }`;
  const text = `version: 1\nupstreams: { up: { url: '${url}' } }\n${auth}\nroutes:\n${routes}`;
  const { plan, problems } = load({ path: 'gateway.yaml', text }, worldOf());
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan;
}

const A = '  - { id: a, method: GET, path: /a, upstream: up, access: protected }\n';
const B = '  - { id: b, method: POST, path: /b, upstream: up, access: public, body: { maxBytes: 1KB } }\n';
const NOTHING = { added: [], removed: [], changed: [], nowPublic: [], upstreams: [], server: [], needsRestart: [] };

describe('the changes between two plans', () => {
  it.each([
    ['nothing', A + B, B + A, NOTHING],
    ['a new protected route', B, A + B, { ...NOTHING, added: ['a'] }],
    ['a new public route', A, A + B, { ...NOTHING, added: ['b'], nowPublic: ['b'] }],
    ['a removed route', A + B, A, { ...NOTHING, removed: ['b'] }],
    [
      'a protected route made public',
      A,
      A.replace('protected', 'public'),
      { ...NOTHING, changed: ['a'], nowPublic: ['a'] },
    ],
    ['another limit', B, B.replace('1KB', '2KB'), { ...NOTHING, changed: ['b'] }],
  ])('%s', (_what, old, next, changes) => {
    expect(changesBetween(planOf(old), planOf(next))).toEqual(changes);
  });

  it('another address, which takes a restart', () => {
    const moved = { ...planOf(A), listen: { host: '127.0.0.1', port: 1 } };
    expect(changesBetween(planOf(A), moved)).toEqual({ ...NOTHING, needsRestart: ['listen'] });
  });

  it('of the server, by its keys, and TLS that comes or goes, which takes a restart', () => {
    const rules = (changes: Partial<Plan['server']['keys']>, tls?: Plan['server']['tls']) => {
      const plan = planOf(A);
      return { ...plan, server: { ...plan.server, keys: { ...plan.server.keys, ...changes }, tls } };
    };
    const pair = { pem: () => ({ cert: '', key: '' }) };
    expect(changesBetween(rules({}), rules({ timeouts: 'others', trustedProxies: 'others' }))).toEqual({
      ...NOTHING,
      server: ['trustedProxies', 'timeouts'],
    });
    expect(changesBetween(rules({ tls: 'one' }, pair), rules({ tls: 'two' }, pair))).toEqual({
      ...NOTHING,
      server: ['tls'],
    });
    for (const [old, next] of [
      [rules({}), rules({ tls: 'one' }, pair)],
      [rules({ tls: 'one' }, pair), rules({})],
    ] as const)
      expect(changesBetween(old, next)).toEqual({ ...NOTHING, server: ['tls'], needsRestart: ['server.tls'] });
  });

  it('an upstream elsewhere', () => {
    expect(changesBetween(planOf(A), planOf(A, 'http://127.0.0.1:2'))).toEqual({ ...NOTHING, upstreams: ['up'] });
  });
});
