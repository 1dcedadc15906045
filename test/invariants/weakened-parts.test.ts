import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileInvariants, type Invariant } from '../../src/engine/invariants/compile-invariants.ts';
import { proveInvariants } from '../../src/engine/invariants/prove.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { weakenedParts } from '../../src/prove/diff/comparisons/invariant-comparisons.ts';
import { runs } from '../support/runs.ts';

const AUTH = `auth:
  tokens:
    - { name: staff, jwt: { jwks: 'https://a/keys', algorithms: [ES256], issuer: i, audience: a } }
    - name: partners
      jwt: { jwks: 'https://b/keys', algorithms: [ES256], issuer: j, audience: a }
      role: { claim: /scope, allow: [user, clerk], message: no }
  role: { claim: /role, allow: [admin, user, clerk], message: no }`;

/** Routes that differ in each member of an invariant. */
function manifestOf(routes: readonly object[]): PlannedManifest {
  const entries = routes.map((route, index) => `  - ${JSON.stringify({ id: `r${index}`, ...route })}`);
  const text = `version: 1
upstreams: { one: { url: http://127.0.0.1:1 }, two: { url: https://127.0.0.1:2, timeouts: { total: 20s } } }
rateLimits: { a: { key: client, allow: 1 per 1s }, b: { key: client, allow: 1 per 1s } }
cors: { origins: [https://a.example, https://b.example] }
${AUTH}
routes:
${entries.join('\n')}
`;
  const loaded = load({ path: 'gateway.yaml', text }, { env: {}, readFile: () => '' });
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded;
}

const subsetOf = (items: readonly string[]) => fc.subarray([...items], { minLength: 1 });
const optional = { requiredKeys: [] };

const route = fc
  .record({
    segment: fc.constantFrom('x', 'y', '{z}', '**'),
    method: fc.constantFrom('GET', 'POST'),
    upstream: fc.constantFrom('one', 'two'),
    access: fc.constantFrom('public', 'protected'),
    more: fc.record(
      { rateLimits: subsetOf(['a', 'b']), timeout: fc.constantFrom('5s', '15s'), validation: fc.constant('report') },
      optional,
    ),
    issuers: fc.option(subsetOf(['staff', 'partners']), { nil: undefined }),
    roles: fc.option(fc.oneof(fc.constant('any'), subsetOf(['admin', 'user', 'clerk'])), { nil: undefined }),
    body: fc.option(
      fc.record(
        { maxBytes: fc.constantFrom('1KB', '2KB'), types: subsetOf(['text/csv', 'image/png', 'image/*']) },
        optional,
      ),
      { nil: undefined },
    ),
  })
  .map(({ segment, more, roles, issuers, body, ...rest }) => ({
    path: `/a/${segment}`,
    ...rest,
    ...more,
    ...(issuers !== undefined && rest.access === 'protected' && { issuers }),
    ...(roles !== undefined && rest.access === 'protected' && isUsable(roles, issuers) && { roles }),
    ...(body !== undefined && rest.method === 'POST' && { body: { maxBytes: '4KB', ...body } }),
  }));

/** Each method must allow one of the roles, and partners are no admins. */
function isUsable(roles: string | readonly string[], issuers: readonly string[] = []): boolean {
  const isOfPartners = issuers.includes('partners') && roles !== 'any';
  return !isOfPartners || (roles.includes('admin') ? issuers.includes('staff') && roles.length > 1 : true);
}

const manifest = fc
  .uniqueArray(route, { minLength: 1, maxLength: 4, selector: ({ path, method }) => `${method} ${path}` })
  .map(manifestOf);

const invariant = fc.record({
  when: fc.record(
    {
      path: subsetOf(['/a/x', '/a/{z}', '/a/**', '/**', '/b']),
      method: subsetOf(['GET', 'POST', 'PUT']),
      upstream: subsetOf(['one', 'two']),
      access: fc.constantFrom('public', 'protected'),
      issuer: subsetOf(['staff', 'partners']),
    },
    optional,
  ),
  except: fc.uniqueArray(fc.constantFrom('r0', 'r1'), { maxLength: 2 }),
  require: fc.oneof(
    fc.constant({ served: false }),
    fc.constantFrom({ access: 'public' }, { access: 'protected' }, { websocket: false }, { websocket: true }),
    fc.constantFrom({ tls: true }, { validation: 'enforce' }, { parameters: true }),
    fc.record({ roles: fc.record({ only: subsetOf(['admin', 'user', 'clerk']) }) }),
    fc.record({ roles: fc.record({ atLeast: subsetOf(['admin', 'user']) }) }),
    fc.record({ issuers: fc.record({ only: subsetOf(['staff', 'partners']) }) }),
    fc.record({ rateLimit: fc.oneof(fc.constant('any'), subsetOf(['a', 'b'])) }),
    fc.record({ upstream: fc.record({ only: subsetOf(['one', 'two']) }) }),
    fc.record({ timeout: fc.constantFrom('5s', '10s', '15s') }),
    fc.record({
      cors: fc.record({ origins: subsetOf(['https://a.example', 'https://b.example', 'https://c.example']) }),
    }),
    fc.record({
      body: fc.record(
        { maxBytes: fc.constantFrom('1KB', '2KB', '4KB'), types: subsetOf(['text/csv', 'image/png', 'image/*']) },
        optional,
      ),
    }),
  ),
});

/** Compiles invariants as if the manifest had all the routes that they except. */
function compile(planned: PlannedManifest, entries: readonly object[]): Invariant[] {
  const invariants = entries.map((entry, index) => ({ id: `i${index}`, why: 'test', ...entry }));
  return compileInvariants({ ...planned.manifest, invariants } as PlannedManifest['manifest'], []);
}

const holds = (invariants: readonly Invariant[], { manifest: values, plan }: PlannedManifest) =>
  proveInvariants(invariants, values, plan).map(({ violations }) => violations.length === 0);

describe('an invariant without weakened parts', () => {
  test('demands as much as the older one, in every manifest', () => {
    let comparisons = 0;
    fc.assert(
      fc.property(
        fc.array(manifest, { minLength: 1, maxLength: 4 }),
        invariant,
        invariant,
        (manifests, first, second) => {
          const variants = [second, { ...second, when: first.when }, { ...first, require: second.require }, first];
          for (const planned of manifests)
            for (const next of variants) {
              const [old, successor] = compile(planned, [first, next]) as [Invariant, Invariant];
              if (weakenedParts(old, successor, () => false).length > 0) continue;
              const [oldHolds, nextHolds] = holds([old, successor], planned);
              if (nextHolds) comparisons += 1;
              expect([first, next, oldHolds || !nextHolds]).toEqual([first, next, true]);
            }
        },
      ),
      { numRuns: runs(1_000) },
    );
    expect(comparisons).toBeGreaterThan(10);
  });

  test('keeps the issuer whose roles it requires', () => {
    const planned = manifestOf([
      { path: '/a', method: 'GET', upstream: 'one', access: 'protected', issuers: ['staff', 'partners'] },
    ]);
    const require = { roles: { atLeast: ['admin'] } };
    const [old, next] = compile(planned, [
      { when: { issuer: 'partners' }, require },
      { when: {}, require },
    ]) as [Invariant, Invariant];
    expect(holds([old, next], planned)).toEqual([false, true]);
    expect(weakenedParts(old, next, () => false).map(({ at }) => at)).toEqual([['when', 'issuer']]);
  });

  test('is the same invariant, in another spelling', () => {
    const planned = manifestOf([{ path: '/a', method: 'GET', upstream: 'one', access: 'public' }]);
    const [old, next] = compile(planned, [
      { when: { method: ['GET'] }, require: { timeout: '60s', body: { maxBytes: '1MB' } } },
      { when: { method: 'GET' }, require: { body: { maxBytes: '1024KB' }, timeout: '1m' } },
    ]) as [Invariant, Invariant];
    expect(weakenedParts(old, next, () => false)).toEqual([]);
    expect(weakenedParts(next, old, () => false)).toEqual([]);
  });
});
