import { expect, it } from 'vitest';
import { readRequestTarget } from '../../../src/engine/gateway/request/request-head.ts';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { Route } from '../../../src/engine/plan/route-definition.ts';
import { isStricter } from '../../../src/engine/routing/router.ts';
import { randomOf } from '../../model/random-case.ts';
import { cases, SEED } from '../../support/runs.ts';
import { type AnyServer, allServers } from './any-server.ts';

const MANIFESTS = cases(10_000);
/** Few texts, so that routes overlap. Some differ only in letter case. */
const WORDS = ['a', 'b', 'A', 'B', 'aB', 'b@', '%C3%A9'];
const TEXTS = [
  ...WORDS,
  'z',
  'Ab',
  'a;q',
  'A;q',
  'b.',
  'B%20',
  'a%3Bq',
  'b%3Fx',
  '...',
  'a%2FB',
  '%20A',
  'B%40',
  '%C3%89',
  'e%CC%81.',
];
const SERVERS = allServers();
/** The servers that read plain paths in different ways. */
const PLAIN_SERVERS = SERVERS.filter(({ name }) => ['', 'lowerCase'].includes(name));
const PATHS = pathsOf(TEXTS, ['a', 'A', 'a;q', 'B', '...']).filter(isAccepted);

type Random = ReturnType<typeof randomOf>;
const pick = <Value>(list: readonly Value[], random: Random) => list[random(list.length)] as Value;

function pathsOf(texts: readonly string[], few: readonly string[]): string[] {
  const two = (list: readonly string[]) => list.flatMap((one) => list.map((other) => `/${one}/${other}`));
  return [
    '/',
    ...texts.map((one) => `/${one}`),
    ...two(texts),
    ...two(few).flatMap((start) => few.map((one) => `${start}/${one}`)),
  ];
}

function isAccepted(path: string): boolean {
  try {
    return readRequestTarget(path, undefined, true).path === path;
  } catch {
    return false;
  }
}

function anyPlan(random: Random): Plan | undefined {
  const path = () => {
    const parts = Array.from({ length: random(4) }, (_, index) =>
      random(3) === 0 ? `{p${index}}` : pick(WORDS, random),
    );
    return `/${[...parts, ...(random(3) === 0 ? ['**'] : [])].join('/')}`;
  };
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:1' } },
    auth: {
      tokens: { jwt: { jwks: 'http://127.0.0.1:1/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['admin', 'user'], message: 'no' },
    },
    routes: Array.from({ length: 2 + random(4) }, (_, index) => ({
      id: `r${index}`,
      method: 'GET',
      path: path(),
      upstream: 'up',
      ...pick([{ access: 'public' }, { access: 'protected' }, { access: 'protected', roles: ['admin'] }], random),
      ...(random(4) === 0 && { encodedSlash: 'keep' }),
    })),
  };
  return load({ path: 'g', text: JSON.stringify(manifest) }, { env: {}, readFile: () => '' }).plan;
}

/** Returns the strictest of the routes that take precedence for a path with these segments. */
function routeOf(server: Pick<AnyServer, 'readLiteral'>, plan: Plan, segments: readonly string[]): Route | undefined {
  let best: readonly [rank: string, route: Route] | undefined;
  for (const route of plan.routes) {
    const { pattern } = route;
    const hasRest = pattern.at(-1)?.kind === 'rest';
    if (hasRest ? segments.length < pattern.length - 1 : segments.length !== pattern.length) continue;
    const isMatch = pattern.every((one, at) => {
      if (one.kind === 'literal') return server.readLiteral(one.text) === segments[at];
      return one.kind === 'rest' || segments[at] !== '';
    });
    if (!isMatch) continue;
    const rank = [...pattern.map(({ kind }) => ({ literal: 0, parameter: 1, rest: 3 })[kind]), 2].join('');
    const isBetter = best === undefined || rank < best[0] || (rank === best[0] && isStricter(route, best[1]));
    if (isBetter) best = [rank, route];
  }
  return best?.[1];
}

interface Reading {
  readonly server: AnyServer;
  readonly segments: readonly string[];
}

/** The distinct ways in which servers read each path. */
const readings = new Map(
  PATHS.map((path) => {
    const distinct = new Map(
      SERVERS.map((server) => {
        const segments = server.read(path);
        return [[...segments, ...WORDS.map(server.readLiteral)].join('/'), { server, segments }];
      }),
    );
    return [path, [...distinct.values()]];
  }),
);

it('no server reads a path of a route as that of a stricter one, and each route has its plain paths', () => {
  const counts = { served: 0, plain: 0 };
  for (let seed = SEED * 1_000_000, count = 0; count < MANIFESTS; seed += 1) {
    const plan = anyPlan(randomOf(seed));
    if (plan === undefined) continue;
    count += 1;
    const { router, routes } = plan;
    const written = routes.map(({ path, access, auth }) => `${path} ${access} ${auth?.role.permissions ?? ''}`);
    const isBypass =
      (path: string, route: Route) =>
      ({ server, segments }: Reading) => {
        const other = routeOf(server, plan, segments);
        const isStrict = other !== undefined && other !== route && isStricter(other, route);
        if (isStrict)
          expect.soft(`seed ${seed}: ${path} is one of ${other.path} with ${server.name}: ${written}`).toBe('');
        return isStrict;
      };
    for (const path of PATHS) {
      const route = path.includes('%2F') && !router.keepsEncodedSlash ? undefined : router.match('GET', path);
      if (route === undefined) continue;
      counts.served += 1;
      if (readings.get(path)?.some(isBypass(path, route))) return;
    }
    for (const route of routes) {
      const path = `/${route.pattern.map((one) => (one.kind === 'literal' ? one.text : 'zz')).join('/')}`;
      const others = PLAIN_SERVERS.map((server) => routeOf(server, plan, server.read(path)));
      if (
        others[0] !== route ||
        others.some((other) => other !== undefined && other !== route && isStricter(other, route))
      )
        continue;
      counts.plain += 1;
      expect(router.match('GET', path)?.path, `seed ${seed}: ${path} of ${written}`).toBe(route.path);
    }
  }
  expect(counts.served).toBeGreaterThan(MANIFESTS * 10);
  expect(counts.plain).toBeGreaterThan(MANIFESTS);
});
