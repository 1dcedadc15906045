import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import type { Route } from '../../src/engine/plan/route-definition.ts';
import { parsePattern, patternKey } from '../../src/engine/routing/pattern.ts';
import { comparePlansSliced } from '../../src/process/reload/plan-changes.ts';
import { pairRoutes } from '../../src/prove/diff/route-pairing.ts';
import { comparePlans } from '../support/plan-changes.ts';
import { runs } from '../support/runs.ts';

interface Entry {
  readonly id: string;
  readonly path: string;
  readonly method: string | readonly string[];
  readonly access: 'public' | 'protected';
}

function planOf(routes: readonly Entry[]): Plan {
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:1' } },
    auth: {
      tokens: { jwt: { jwks: 'https://a/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['user'], message: 'no' },
    },
    routes: routes.map((route) => ({ ...route, upstream: 'up' })),
  };
  const { plan, problems } = load({ path: 'g', text: JSON.stringify(manifest) }, { env: {}, readFile: () => '' });
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

function sideOf(plan: Plan) {
  const routes = plan.routes.map((route) => ({ route, pattern: parsePattern(route.path) }));
  return { plan, routes, routeById: new Map(routes.map((one) => [one.route.id, one])) };
}

const WORDS = ['a', 'b'];
const METHODS = ['GET', 'HEAD', 'POST'];
const segment = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...WORDS) }, fc.constant('{}'));
const path = fc.tuple(fc.array(segment, { maxLength: 2 }), fc.boolean()).map(([parts, hasRest]) => {
  const named = parts.map((text, index) => (text === '{}' ? `{p${index}}` : text));
  return `/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`;
});
const entry = fc.record({
  id: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5', 'r6'),
  path,
  method: fc.constantFrom<string | readonly string[]>('GET', 'POST', ['GET', 'POST']),
  access: fc.constantFrom('public' as const, 'protected' as const),
});
const entries = fc.array(entry, { minLength: 1, maxLength: 7 }).map((written) => {
  const existing = new Set<string>();
  return written.filter(({ id, path: text, method }) => {
    const keys = [id, ...[method].flat().map((name) => `${name} ${patternKey(parsePattern(text))}`)];
    if (keys.some((key) => existing.has(key))) return false;
    for (const key of keys) existing.add(key);
    return true;
  });
});

/** Every path of up to three segments. */
const PATHS = (() => {
  const texts = [...WORDS, 'zz'];
  const two = texts.flatMap((one) => texts.map((other) => `${one}/${other}`));
  const three = two.flatMap((before) => texts.map((text) => `${before}/${text}`));
  return ['', ...texts, ...two, ...three].map((text) => `/${text}`);
})();

describe('the comparison of two plans agrees with their routers', () => {
  test('about the pairs of routes that receive the same requests', () => {
    fc.assert(
      fc.property(entries, entries, (one, two) => {
        const [old, next] = [planOf(one), planOf(two)];
        const expected = new Set<string>();
        for (const url of PATHS)
          for (const method of METHODS) {
            const pair = [old.router.match(method, url)?.id, next.router.match(method, url)?.id];
            if (pair.some((id) => id !== undefined)) expected.add(pair.join(' '));
          }
        const pairs = pairRoutes(sideOf(old), sideOf(next)).filter(({ request }) => request !== undefined);
        for (const { from, to, request } of pairs) {
          const { method = '', url = '' } = request ?? {};
          expect(old.router.match(method, url)).toBe(from?.route);
          expect(next.router.match(method, url)).toBe(to?.route);
        }
        // The paths of this test have no spelling that the router refuses.
        const found = pairs.filter(({ request }) => !request?.url.includes(';'));
        expect(new Set(found.map(({ from, to }) => [from?.route.id, to?.route.id].join(' ')))).toEqual(expected);
      }),
      { numRuns: runs(80) },
    );
  });

  test('about the routes that are now public or protected', () => {
    fc.assert(
      fc.property(entries, entries, (one, two) => {
        const [old, next] = [planOf(one), planOf(two)];
        const accessOf = (url: string, isWanted: (from?: Route, to?: Route) => boolean) =>
          METHODS.flatMap((method) => {
            const [from, to] = [old.router.match(method, url), next.router.match(method, url)];
            return isWanted(from, to) ? [to?.id] : [];
          });
        const isNowPublic = (from?: Route, to?: Route) => to?.access === 'public' && from?.access !== 'public';
        const isNowProtected = (from?: Route, to?: Route) => to?.access === 'protected' && from?.access === 'public';
        const plain = new Set(PATHS.flatMap((url) => accessOf(url, isNowPublic)));
        const respelled = PATHS.flatMap((url) => accessOf(url.replaceAll(/\w+/g, '$&;x'), isNowPublic));
        const now_public = new Set(comparePlans(old, next).now_public);
        expect(plain.difference(now_public)).toEqual(new Set());
        // Other spellings of a path may have had no route because of a stricter one.
        expect(now_public.difference(plain).difference(new Set(respelled))).toEqual(new Set());
        const now_protected = new Set(PATHS.flatMap((url) => accessOf(url, isNowProtected)));
        expect(new Set(comparePlans(old, next).now_protected)).toEqual(now_protected);
      }),
      { numRuns: runs(80) },
    );
  });
});

describe('the comparison of plans with hundreds of crossing routes', () => {
  const range = (count: number) => Array.from({ length: count }, (_, index) => index);
  const crossing = (access: Entry['access'], changed = '') => [
    ...range(300).map((index) => ({
      id: `a${index}`,
      path: `/a${index}/{x}`,
      method: 'GET',
      access: 'public' as const,
    })),
    ...range(300).map((index) => ({
      id: `b${index}`,
      path: `/{x}/b${index}${changed}`,
      method: 'GET',
      access: 'protected' as const,
    })),
    { id: 'last', path: '/{x}/{y}/last', method: 'GET', access },
    { id: 'wide', path: '/a/{y}/{z}', method: 'GET', access: 'protected' as const },
  ];

  test('finds the one route that is now public', () => {
    const { now_public, now_protected } = comparePlans(planOf(crossing('protected')), planOf(crossing('public')));
    expect([now_public, now_protected]).toEqual([['last'], []]);
  });

  test('finds the public routes that receive the requests of a protected route that moves away', () => {
    const hidden = { id: 'own', path: '/a7/own', method: 'GET', access: 'protected' as const };
    const old = planOf([...crossing('protected'), hidden]);
    const next = planOf([...crossing('protected', '/c'), { ...hidden, path: '/own' }]);
    const { now_public, now_protected } = comparePlans(old, next);
    expect([now_public, now_protected]).toEqual([['a7'], []]);
  });

  test('pauses often', () => {
    const steps = comparePlansSliced(planOf(crossing('protected')), planOf(crossing('public', '/c')));
    expect(steps.reduce((count) => count + 1, 0)).toBeGreaterThan(3_000);
  });

  test('searches no overlaps of routes that receive the same requests as before', () => {
    const withTimeout = (timeout: string) => planOf(crossing('protected').map((route) => ({ ...route, timeout })));
    const [old, next] = [withTimeout('1s'), withTimeout('2s')];
    const steps = comparePlansSliced(old, next);
    expect(steps.reduce((count) => count + 1, 0)).toBeLessThan(10 * old.routes.length);
    const { changed, now_public, now_protected } = comparePlans(old, next);
    expect([changed.length, now_public, now_protected]).toEqual([602, [], []]);
  });
});
