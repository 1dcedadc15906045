import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { settingsNeedingRestart, summarizeChanges } from '../../src/process/reload/plan-changes.ts';
import { worldOf } from '../support/gateway.ts';
import { comparePlans } from '../support/plan-changes.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: 'http://127.0.0.1:1' } }
auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:1', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }
routes:
`;

function planOf(routes: string, url = 'http://127.0.0.1:1'): Plan {
  const text = MANIFEST.replace("{ url: 'http://127.0.0.1:1' }", `{ url: '${url}' }`) + routes;
  const { plan, problems } = load({ path: 'gateway.yaml', text }, worldOf());
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan;
}

const A = '  - { id: a, method: GET, path: /a, upstream: up, access: protected }\n';
const B = '  - { id: b, method: POST, path: /b, upstream: up, access: public, body: { maxBytes: 1KB } }\n';
const C = '  - { id: c, method: GET, path: /c, upstream: up, access: public }\n';
const ALL = '  - { id: all, method: any, path: /**, upstream: up, access: public, body: { maxBytes: 1KB } }\n';
const NOTHING = {
  ...{ added: [], removed: [], changed: [], now_public: [], now_protected: [] },
  ...{
    upstreams: [],
    upstreams_removed: [],
    rate_limits: [],
    rate_limits_removed: [],
    server: [],
    rules: [],
    needs_restart: [],
  },
};

describe('comparePlans', () => {
  it.each([
    ['no changes', A + B, B + A, NOTHING],
    ['a new protected route', B, A + B, { ...NOTHING, added: ['a'] }],
    ['a new public route', A, A + B, { ...NOTHING, added: ['b'], now_public: ['b'] }],
    ['a removed route', A + B, A, { ...NOTHING, removed: ['b'] }],
    [
      'a protected route made public',
      A,
      A.replace('protected', 'public'),
      { ...NOTHING, changed: ['a'], now_public: ['a'] },
    ],
    [
      'a public route made protected',
      A.replace('protected', 'public'),
      A,
      { ...NOTHING, changed: ['a'], now_protected: ['a'] },
    ],
    [
      'a protected route removed from under a public one',
      A + ALL,
      ALL,
      { ...NOTHING, removed: ['a'], now_public: ['all'] },
    ],
    [
      'a public route moved to the path of a protected one',
      A + C,
      C.replace('/c', '/a'),
      { ...NOTHING, removed: ['a'], changed: ['c'], now_public: ['c'] },
    ],
    [
      'a protected route that becomes public on a path that was public before',
      A + ALL,
      `${ALL.replace('access: public', 'access: protected')}${A.replace('/a', '/c').replace('protected', 'public')}`,
      { ...NOTHING, changed: ['all', 'a'], now_protected: ['all'] },
    ],
    ['a protected route put above a public one', ALL, A + ALL, { ...NOTHING, added: ['a'], now_protected: ['a'] }],
    ['a public route that no request reaches', A, A + C.replace('/c,', '/A,'), { ...NOTHING, added: ['c'] }],
    ['another body limit', B, B.replace('1KB', '2KB'), { ...NOTHING, changed: ['b'] }],
  ])('finds %s', (_name, old, next, changes) => {
    expect(comparePlans(planOf(old), planOf(next))).toEqual(changes);
  });

  it('finds new, changed and removed rate limits', () => {
    const withLimits = (...limits: string[]) => planOf(`${A}rateLimits: { ${limits.join(', ')} }\n`);
    const [one, two] = ['one: { key: client, allow: 5 per 1m }', 'two: { key: route, allow: 5 per 1m }'];
    const changed = one.replace('}', ', mode: report }');
    expect(comparePlans(withLimits(one, two), withLimits(two, one))).toEqual(NOTHING);
    expect(comparePlans(withLimits(one), withLimits(two, changed))).toEqual({
      ...NOTHING,
      rate_limits: ['two', 'one'],
    });
    const removed = comparePlans(withLimits(one, two), withLimits(two));
    expect(removed).toEqual({ ...NOTHING, rate_limits_removed: ['one'] });
    expect(summarizeChanges(removed)).toBe('1 rate limit removed');
  });

  it('finds another address, which needs a restart', () => {
    const moved = { ...planOf(A), listen: { host: '127.0.0.1', port: 1 } };
    expect(comparePlans(planOf(A), moved)).toEqual({ ...NOTHING, needs_restart: ['listen'] });
  });

  it('finds changed keys of the server, and TLS that is switched on or off, which needs a restart', () => {
    const rules = (changes: Partial<Plan['server']['keys']>, tls?: Plan['server']['tls']) => {
      const plan = planOf(A);
      return { ...plan, server: { ...plan.server, keys: { ...plan.server.keys, ...changes }, tls } };
    };
    const pair = { pem: () => ({ cert: '', key: '' }) };
    expect(comparePlans(rules({}), rules({ timeouts: 'others', trustedProxies: 'others' }))).toEqual({
      ...NOTHING,
      server: ['trustedProxies', 'timeouts'],
    });
    expect(comparePlans(rules({ tls: 'one' }, pair), rules({ tls: 'two' }, pair))).toEqual({
      ...NOTHING,
      server: ['tls'],
    });
    for (const [old, next] of [
      [rules({}), rules({ tls: 'one' }, pair)],
      [rules({ tls: 'one' }, pair), rules({})],
    ] as const)
      expect(comparePlans(old, next)).toEqual({ ...NOTHING, server: ['tls'], needs_restart: ['server.tls'] });
  });

  it('finds another number of workers, which needs a restart', () => {
    const workers = (value: string) => planOf(`${A}server: { workers: ${value} }\n`);
    expect(comparePlans(workers('2'), workers('auto'))).toEqual({
      ...NOTHING,
      server: ['workers'],
      needs_restart: ['server.workers'],
    });
    expect(comparePlans(planOf(A), workers('1'))).toEqual(NOTHING);
    expect(comparePlans(workers('2'), workers("'2'"))).toEqual(NOTHING);
  });

  it('finds an upstream with another URL', () => {
    expect(comparePlans(planOf(A), planOf(A, 'http://127.0.0.1:2'))).toEqual({ ...NOTHING, upstreams: ['up'] });
  });

  it('finds changed rules for tokens and roles', () => {
    const plan = planOf(A);
    const other = load(
      {
        path: 'gateway.yaml',
        text: MANIFEST.replace('allow: [admin]', 'allow: [user]').replace('audience: a', 'audience: b') + A,
      },
      worldOf(),
    ).plan as Plan;
    expect(comparePlans(plan, other)).toEqual({ ...NOTHING, rules: ['tokens', 'role'] });
  });

  it('finds changed settings of the log', () => {
    expect(comparePlans(planOf(A), planOf(`${A}log: { replay: true }\n`))).toEqual({ ...NOTHING, rules: ['log'] });
    expect(comparePlans(planOf(A), planOf(`${A}log: { replay: false, sample2xx: 1 }\n`))).toEqual(NOTHING);
  });

  it('has a summary in one line', () => {
    const between = (old: string, next: string) => summarizeChanges(comparePlans(planOf(old), planOf(next)));
    expect(between(A, A + B)).toBe('1 route added, 1 now public');
    expect(between(A + B, A.replace('protected', 'public'))).toBe('1 route removed, 1 route changed, 1 now public');
    expect(between(A, A)).toBe('no effective changes');
    expect(summarizeChanges(comparePlans(planOf(A), planOf(A, 'http://127.0.0.1:2')))).toBe(
      '1 upstream new or changed',
    );
  });

  it('compares with the settings at startup, after any number of reloads', () => {
    const startup = planOf(A);
    const moved = { ...planOf(A + B), listen: { host: '127.0.0.1', port: 1 } };
    expect(settingsNeedingRestart(startup, moved)).toEqual(['listen']);
    expect(settingsNeedingRestart(startup, planOf(B))).toEqual([]);
  });
});
