import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../src/load.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Route } from '../../src/plan/route-definition.ts';
import { type Pattern, parsePattern, patternKey } from '../../src/plan/routing/pattern.ts';
import { containsPattern, intersect, PatternTree, takesPrecedence } from '../../src/plan/routing/pattern-overlap.ts';
import type { Problem } from '../../src/problem/problem.ts';
import { lintText } from './support.ts';

/** Few words, so that paths overlap. Some fold into others, and `x` is the sample of a parameter. */
const WORDS = ['a', 'b', 'A', 'a.', 'x'];
/** The segments of requests. */
const SEGMENTS = [...WORDS, 'b;p', 'zz', '...'];

const word = fc.constantFrom(...WORDS);
const segment = fc.oneof({ weight: 3, arbitrary: word }, { weight: 2, arbitrary: fc.constant('{}') });
const path = fc.tuple(fc.array(segment, { maxLength: 3 }), fc.boolean()).map(([parts, hasRest]) => {
  const named = parts.map((text, index) => (text === '{}' ? `{p${index}}` : text));
  return `/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`;
});
const route = fc.record({
  path,
  method: fc.constantFrom<unknown>(
    'GET',
    'POST',
    'DELETE',
    ['DELETE', 'GET', 'POST'],
    ['GET', 'POST'],
    ['DELETE', 'GET'],
  ),
  access: fc.constantFrom('public', 'protected'),
  upstream: fc.constantFrom('one', 'two'),
  isLogin: fc.boolean(),
});

/** Generates routes that load: without duplicates of the same requests. */
const routes = fc.array(route, { minLength: 1, maxLength: 9 }).map((written) => {
  const existing = new Set<string>();
  return written.filter(({ path: text, method }) => {
    const requests = [method].flat().map((name) => `${name} ${patternKey(parsePattern(text))}`);
    if (requests.some((request) => existing.has(request))) return false;
    for (const request of requests) existing.add(request);
    return true;
  });
});

function textOf(written: readonly { isLogin: boolean }[]): string {
  return JSON.stringify({
    version: 1,
    upstreams: { one: { url: 'http://127.0.0.1:1' }, two: { url: 'http://127.0.0.1:2' } },
    auth: {
      tokens: { jwt: { jwks: 'https://a/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['user'], message: 'no' },
    },
    routes: written.map(({ isLogin, ...rest }, index) => ({ id: `r${index}`, ...rest, ...(isLogin && { login: {} }) })),
  });
}

function planOf(text: string): Plan {
  const { plan, problems } = load({ path: 'g', text }, { env: {}, readFile: () => '' });
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

/** Every path of up to four segments. */
const PATHS = (() => {
  const bySegments = [['']];
  for (let length = 1; length <= 4; length += 1)
    bySegments.push((bySegments[length - 1] ?? []).flatMap((before) => SEGMENTS.map((text) => `${before}/${text}`)));
  return ['/', ...bySegments.slice(1).flat()];
})();

/** Returns the ids of routes that the router of the plan matches for some request. */
function reachedRoutes({ router, routes: all }: Plan): Set<string> {
  const found = new Set<string>();
  const methods = [...new Set(all.flatMap((one) => one.methods))];
  for (const requestPath of PATHS) for (const method of methods) found.add(router.match(method, requestPath)?.id ?? '');
  return found;
}

/** Returns the ids of the routes at which the wanted problems are reported. */
function reportedRoutes(
  problems: readonly Problem[],
  plan: Plan,
  text: string,
  isWanted: (problem: Problem) => boolean,
): string[] {
  const starts = plan.routes.map(({ id }) => ({ id, start: text.indexOf(`{"id":"${id}"`) }));
  return problems.filter(isWanted).map(({ range }) => starts.findLast(({ start }) => start < range.column)?.id ?? '');
}

describe('the witness search agrees with the router of the plan', () => {
  test('reports a route as unreachable if and only if no request reaches it', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const problems = lintText(text, { preset: 'strict' });
        const unreached = reportedRoutes(problems, plan, text, ({ rule }) => rule === 'route-unreachable');
        const reached = reachedRoutes(plan);
        for (const id of unreached) expect([id, reached.has(id)]).toEqual([id, false]);
        // With folding, a route may lose its paths to several routes, which the rule does not report.
        if (written.some(({ path: requestPath }) => /[A.]/.test(requestPath))) return;
        for (const { id } of plan.routes) expect([id, unreached.includes(id)]).toEqual([id, !reached.has(id)]);
      }),
      { numRuns: 100 },
    );
  });

  test('returns requests that the router matches as the message says', () => {
    let witnessCount = 0;
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        for (const { witness, rule, message } of lintText(text, { preset: 'strict' })) {
          if (witness === undefined) continue;
          witnessCount += 1;
          const matched = plan.router.match(witness.method, witness.path);
          expect([rule, matched?.id]).toEqual([rule, witness.route]);
          expect(message).toContain(`${witness.method} ${witness.path}`);
          if (rule.startsWith('public-')) expect([rule, matched?.access]).toEqual([rule, 'public']);
        }
      }),
      { numRuns: 300 },
    );
    expect(witnessCount).toBeGreaterThan(200);
  });

  test('reports every public route that wins a path of a protected one', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const reported = reportedRoutes(lintText(text), plan, text, ({ rule }) => rule === 'public-overlaps-protected');
        const expected = publicWinners(plan);
        for (const publicRoute of plan.routes.filter(({ access }) => access === 'public'))
          expect([publicRoute.id, reported.includes(publicRoute.id)]).toEqual([
            publicRoute.id,
            expected.has(publicRoute),
          ]);
      }),
      { numRuns: 60, examples: [[SPELLING_TWINS]] },
    );
  });
});

/** The router refuses /a/x, which folds like /a./x, but matches /a/a;x, which folds only to /a/a. */
const SPELLING_TWINS = (
  [
    ['/a/**', 'public'],
    ['/a./**', 'protected'],
    ['/a/a', 'public'],
    ['/{p0}/{p1}', 'protected'],
  ] as const
).map(([path, access]) => ({ path, access, method: 'GET', upstream: 'one' as const, isLogin: false }));

/** Returns the public routes that win a path of a protected route, if neither pattern contains the other. */
function publicWinners({ router, routes: all }: Plan): Set<Route> {
  const patterns = new Map(all.map((one) => [one, parsePattern(one.path)]));
  const patternOf = (one: Route) => patterns.get(one) ?? [];
  const isCrossing = (publicRoute: Route, protectedRoute: Route) =>
    !containsPattern(patternOf(protectedRoute), patternOf(publicRoute)) &&
    !containsPattern(patternOf(publicRoute), patternOf(protectedRoute));
  const protectedRoutes = all.filter(({ access }) => access === 'protected');
  const found = new Set<Route>();
  for (const requestPath of PATHS)
    for (const protectedRoute of protectedRoutes.filter((one) => isMatch(patternOf(one), requestPath)))
      for (const method of protectedRoute.methods) {
        const winner = router.match(method, requestPath);
        if (winner?.access === 'public' && isCrossing(winner, protectedRoute)) found.add(winner);
      }
  return found;
}

function isMatch(pattern: Pattern, requestPath: string): boolean {
  const segments = requestPath.split('/').filter((text) => text !== '');
  const hasRest = pattern.at(-1)?.kind === 'rest';
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  const isLong = hasRest ? segments.length >= fixed.length : segments.length === fixed.length;
  return isLong && fixed.every((part, index) => part.kind !== 'literal' || part.text === segments[index]);
}

describe('a pattern, as a set of paths', () => {
  const pattern = path.map(parsePattern);
  const samples = PATHS.filter(
    (requestPath) => requestPath.split('/').length <= 5 && !/;|X|zz|\.\.\./.test(requestPath),
  );
  const setOf = (one: Pattern) => new Set(samples.filter((requestPath) => isMatch(one, requestPath)));

  test('contains another pattern if and only if the sets do', () => {
    fc.assert(
      fc.property(pattern, pattern, (wide, narrow) => {
        expect(containsPattern(wide, narrow)).toBe(setOf(narrow).isSubsetOf(setOf(wide)));
      }),
    );
  });

  test('intersects another pattern in the intersection of the sets', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const intersection = intersect(one, other);
        const common = setOf(one).intersection(setOf(other));
        expect(intersection === undefined ? new Set() : setOf(intersection)).toEqual(common);
      }),
    );
  });

  test('takes precedence over an overlapping pattern, or the other way round', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const both = intersect(one, other);
        fc.pre(both !== undefined && patternKey(one) !== patternKey(other));
        expect([takesPrecedence(one, other), takesPrecedence(other, one)].toSorted()).toEqual([false, true]);
        const requestPath = samples.find((candidate) => isMatch(one, candidate) && isMatch(other, candidate));
        const paths = [one, other].map((part) =>
          patternKey(part)
            .split('{}')
            .reduce((before, after, index) => `${before}{p${index}}${after}`),
        );
        const text = textOf(
          paths.map((written) => ({ path: written, method: 'GET', access: 'public', upstream: 'one', isLogin: false })),
        );
        if (requestPath !== undefined && !/[A.]/.test(text.slice(text.indexOf('"routes"'))))
          expect(planOf(text).router.match('GET', requestPath)?.id).toBe(takesPrecedence(one, other) ? 'r0' : 'r1');
      }),
    );
  });

  test('is found in a tree by exactly the patterns that overlap it', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), pattern, (added, searched) => {
        const tree = new PatternTree<Pattern>();
        for (const one of added) tree.add(one, one);
        const expected = added.filter((one) => intersect(one, searched) !== undefined);
        const found = [...tree.overlapping(searched, { remaining: 10_000 })];
        expect(new Set(found)).toEqual(new Set(expected));
        expect(found).toHaveLength(expected.length);
      }),
    );
  });
});
