import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLintContext, type ValidManifest } from '../../src/check/lint/lint-context.ts';
import { load } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import type { Route } from '../../src/engine/plan/route-definition.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';
import { type Pattern, parsePattern, patternKey } from '../../src/engine/routing/pattern.ts';
import { cases, runs } from '../support/runs.ts';
import { lintText, readText } from './support.ts';

/** Few words, so that paths overlap. Some fold into others, and `x` is the sample of a parameter. */
const WORDS = ['a', 'b', 'A', 'B', 'x'];
/** The segments of requests. */
const SEGMENTS = [...WORDS, 'b;p', 'zz', '...'];

/** Words that servers read in several ways, and words that are equal in one of them. */
const MULTIFORM_WORDS = ['a', 'A', '...', '%C3%A9'];
const MULTIFORM_SEGMENTS = [...MULTIFORM_WORDS, 'a;p', '%C3%89;p', '%EF%BD%81', 'zz', 'z%3Fz', 'a%3Fz', '%3Fz'];

const pathOf = (words: readonly string[], maxLength = 3) => {
  const word = fc.constantFrom(...words);
  const segment = fc.oneof({ weight: 3, arbitrary: word }, { weight: 2, arbitrary: fc.constant('{}') });
  return fc.tuple(fc.array(segment, { maxLength }), fc.boolean()).map(([parts, hasRest]) => {
    const named = parts.map((text, index) => (text === '{}' ? `{p${index}}` : text));
    return `/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`;
  });
};
const route = fc.record({
  path: pathOf(WORDS),
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
const routesOf = (one: typeof route) =>
  fc.array(one, { minLength: 1, maxLength: 9 }).map((written) => {
    const existing = new Set<string>();
    return written.filter(({ path: text, method }) => {
      const requests = [method].flat().map((name) => `${name} ${patternKey(parsePattern(text))}`);
      if (requests.some((request) => existing.has(request))) return false;
      for (const request of requests) existing.add(request);
      return true;
    });
  });
const routes = routesOf(route);
const multiformRoutes = routesOf(fc.tuple(route, pathOf(MULTIFORM_WORDS, 2)).map(([one, path]) => ({ ...one, path })));

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

/** Returns every path of at most `maxLength` segments. */
function pathsOf(segments: readonly string[], maxLength: number): string[] {
  const byLength = [['']];
  for (let length = 1; length <= maxLength; length += 1)
    byLength.push((byLength[length - 1] ?? []).flatMap((before) => segments.map((text) => `${before}/${text}`)));
  return ['/', ...byLength.slice(1).flat()];
}

const PATHS = pathsOf(SEGMENTS, 4);
const MULTIFORM_PATHS = pathsOf(MULTIFORM_SEGMENTS, 3);
const SEGMENTS_BY_PATH = new Map(
  [...PATHS, ...MULTIFORM_PATHS].map((text) => [text, text.split('/').filter((part) => part !== '')]),
);

/** Expects a request that the router matches for each route, or a report and none of the paths to reach the route. */
function expectReachability(text: string, paths: readonly string[]): void {
  const plan = planOf(text);
  const { routes: lintRoutes, witnessSearch } = createLintContext(readText(text) as ValidManifest, '2027-01-01');
  const reported = reportedRoutes(lintText(text, { preset: 'strict' }), plan, text, isUnreachable);
  const reached = reachedRoutes(plan, paths);
  for (const lintRoute of lintRoutes) {
    const { id, methods } = lintRoute.route;
    const request = witnessSearch.findRequest(lintRoute, methods);
    if (request === undefined) expect([id, reported.includes(id), reached.has(id)]).toEqual([id, true, false]);
    else expect([id, plan.router.match(request.method, request.path)?.id]).toEqual([id, id]);
  }
  expect([...witnessSearch.undecided]).toEqual([]);
}

/** Returns the ids of routes that the router of the plan matches for some request. */
function reachedRoutes({ router, routes: all }: Plan, paths: readonly string[]): Set<string> {
  const open = new Map(all.map((one) => [one, parsePattern(one.path)]));
  const found = new Set<string>();
  for (const requestPath of paths) {
    // A route receives only requests that its pattern matches, so most paths need no request.
    const matching = [...open].filter(([, pattern]) => isMatch(pattern, requestPath));
    for (const method of new Set(matching.flatMap(([one]) => one.methods))) {
      const winner = router.match(method, requestPath);
      if (winner === undefined) continue;
      found.add(winner.id);
      open.delete(winner);
    }
  }
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
  test('finds a request for every route, or reports the route because no request reaches it', () => {
    fc.assert(
      fc.property(routes, (written) => expectReachability(textOf(written), PATHS)),
      { numRuns: runs(100) },
    );
  });

  test('finds a request for every route whose paths have several folded forms, or reports the route', () => {
    fc.assert(
      fc.property(multiformRoutes, (written) => expectReachability(textOf(written), MULTIFORM_PATHS)),
      { numRuns: runs(40) },
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
      { numRuns: runs(300) },
    );
    expect(witnessCount).toBeGreaterThan(cases(200));
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
      { numRuns: runs(60), examples: [[SPELLING_TWINS]] },
    );
  });

  test('reports every public route that receives requests around a protected path', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const reported = reportedRoutes(lintText(text), plan, text, ({ rule }) => rule === 'public-covers-protected');
        expect(new Set(reported)).toEqual(publicCovers(plan));
      }),
      { numRuns: runs(25) },
    );
  });

  test('reports every protected route whose paths are public for another method', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const reported = reportedRoutes(lintText(text), plan, text, ({ rule }) => rule === 'public-method-gap');
        expect(new Set(reported)).toEqual(methodGaps(plan));
      }),
      { numRuns: runs(25) },
    );
  });
});

/** Returns the ids of public routes that contain a protected path and receive requests with a method of both. */
function publicCovers({ router, routes: all }: Plan): Set<string> {
  const patterns = new Map(all.map((one) => [one, parsePattern(one.path)]));
  const patternOf = (one: Route) => patterns.get(one) ?? [];
  const found = new Set<string>();
  const methods = [...new Set(all.flatMap((one) => one.methods))];
  for (const requestPath of PATHS)
    for (const method of methods) {
      const winner = router.match(method, requestPath);
      if (winner?.access !== 'public' || found.has(winner.id)) continue;
      const isCovered = (one: Route) =>
        one.access === 'protected' &&
        one.methods.includes(method) &&
        containsPattern(patternOf(winner), patternOf(one)) &&
        !containsPattern(patternOf(one), patternOf(winner));
      if (all.some(isCovered)) found.add(winner.id);
    }
  return found;
}

/** Returns the ids of protected routes that lose a request with another method to a public route of the same upstream. */
function methodGaps({ router, routes: all }: Plan): Set<string> {
  const patterns = new Map(all.map((one) => [one, parsePattern(one.path)]));
  const patternOf = (one: Route) => patterns.get(one) ?? [];
  const found = new Set<string>();
  const methods = [...new Set(all.flatMap((one) => one.methods))].filter((method) => method !== 'HEAD');
  for (const requestPath of PATHS) {
    const isGap = (one: Route) => one.access === 'protected' && isMatch(patternOf(one), requestPath);
    for (const protectedRoute of all.filter(isGap))
      for (const method of methods) {
        const winner = router.match(method, requestPath);
        if (winner?.access !== 'public' || protectedRoute.methods.includes(method)) continue;
        if (winner.upstream !== protectedRoute.upstream) continue;
        if (!containsPattern(patternOf(protectedRoute), patternOf(winner))) found.add(protectedRoute.id);
      }
  }
  return found;
}

/** True if the wide pattern matches every path that the narrow one matches. */
function containsPattern(wide: Pattern, narrow: Pattern): boolean {
  for (const [index, part] of wide.entries()) {
    if (part.kind === 'rest') return true;
    const other = narrow[index];
    if (other === undefined || other.kind === 'rest') return false;
    if (part.kind === 'literal' && !(other.kind === 'literal' && other.text === part.text)) return false;
  }
  return wide.length === narrow.length;
}

describe('the search for overlaps is complete', () => {
  const publicRoute = (requestPath: string) => ({ path: requestPath, access: 'public', ...REST });
  const protectedRoute = (requestPath: string) => ({ path: requestPath, access: 'protected', ...REST });
  const range = (count: number) => Array.from({ length: count }, (_, index) => index);
  const witnessesOf = (written: readonly { isLogin: boolean }[], wanted: string) =>
    lintText(textOf(written)).flatMap(({ rule, witness }) =>
      rule === wanted ? [`${witness?.method} ${witness?.path}`] : [],
    );

  test('behind hundreds of crossing paths without a common path', () => {
    const written = [
      ...range(200).map((index) => publicRoute(`/a${index}/{x}/c`)),
      ...range(200).map((index) => protectedRoute(`/{x}/b${index}/d`)),
      publicRoute('/a/{x}/leak'),
      protectedRoute('/{x}/secret/leak'),
    ];
    expect(witnessesOf(written, 'public-overlaps-protected')).toEqual(['GET /a/secret/leak']);
  });

  test('behind hundreds of common paths that a third route receives', () => {
    const written = [
      ...range(120).map((index) => publicRoute(`/a/{x}/p${index}`)),
      ...range(120).map((index) => protectedRoute(`/{x}/q${index}/{y}`)),
      ...range(120).map((index) => protectedRoute(`/a/q${index}/{x}`)),
      protectedRoute('/{x}/leak/{y}'),
    ];
    expect(witnessesOf(written, 'public-overlaps-protected')).toEqual(
      range(120).map((index) => `GET /a/leak/p${index}`),
    );
  });

  test('behind a covered path with whose method the public route receives no request', () => {
    const written = [
      { ...publicRoute('/files/**'), method: ['GET', 'POST'] },
      { ...protectedRoute('/files/**'.replace('**', '{x}/**')), method: 'GET' },
      protectedRoute('/files'),
      { ...protectedRoute('/files/audit'), method: 'POST' },
    ];
    expect(witnessesOf(written, 'public-covers-protected')).toEqual(['POST /files/x']);
  });

  test('for a route that loses its paths to several stricter spellings', () => {
    const written = [publicRoute('/A/**'), protectedRoute('/a'), protectedRoute('/a/{x}/**')];
    expect(witnessesOf(written, 'route-unreachable')).toEqual(['GET /A/x']);
  });

  test.each([
    ['whose other reading is a path of a third route', ['/{x}/...'], ['/{y}'], '/b', true],
    ['whose dots leave the path of a third route', ['/.../{x}'], ['/{y}/**'], '/', false],
    ['whose parameter some servers read as several segments', ['/{x}/A'], ['/{x}/a'], undefined, false],
    ['whose parameter some servers read as a third route', ['/A/{x}'], ['/a/{y}', '/a/**'], '/a/{y}/{z}', false],
    ['whose dots leave an empty path', ['/{x}/...'], ['/{y}'], undefined, false],
  ] as const)('for a route %s: %j', (_, [open], strict, third, isReachable) => {
    const written = [
      publicRoute(open),
      ...strict.map(protectedRoute),
      ...(third === undefined ? [] : [publicRoute(third)]),
    ];
    const text = textOf(written);
    const { routes: lintRoutes, witnessSearch } = createLintContext(readText(text) as ValidManifest, '2027-01-01');
    const request = lintRoutes[0] && witnessSearch.findRequest(lintRoutes[0], ['GET']);
    const plan = planOf(text);
    expect(request && plan.router.match('GET', request.path)?.id).toBe(isReachable ? 'r0' : undefined);
    const reported = reportedRoutes(lintText(text, { preset: 'strict' }), plan, text, isUnreachable);
    expect(reported.includes('r0')).toBe(!isReachable);
  });

  test('for every longer route with the same path before its rest', () => {
    const written = [
      { ...publicRoute('/a'), method: ['GET', 'POST'] },
      { ...protectedRoute('/a/**'), method: 'POST' },
      { ...publicRoute('/a/**'), method: 'GET' },
    ];
    expect(witnessesOf(written, 'route-slash-twin')).toEqual(['POST /a/']);
  });

  test('for a literal that folds to the segment that stands for any text', () => {
    const written = [publicRoute('/{y}'), protectedRoute('/X')];
    expect(witnessesOf(written, 'public-covers-protected')).toEqual(['GET /x1']);
  });

  test('for hundreds of routes that receive no request, beside as many candidates', () => {
    const written = [
      ...range(500).map((index) => publicRoute(`/A${index}/{x}`)),
      ...range(500).map((index) => protectedRoute(`/{x}/B${index}`)),
      ...range(500).map((index) => protectedRoute(`/a${index}/{x}`)),
    ];
    expect(witnessesOf(written, 'public-overlaps-protected')).toEqual([]);
  });

  test('for thousands of routes that receive only requests with unusual spellings', () => {
    const written = [
      ...range(1_000).map((index) => publicRoute(`/A${index}/{x}`)),
      ...range(1_000).map((index) => protectedRoute(`/{x}/B${index}`)),
      ...range(1_000).map((index) => protectedRoute(`/a${index}/{x}`)),
    ];
    expect(witnessesOf(written, 'public-overlaps-protected')).toEqual([]);
    expect(witnessesOf(written, 'route-undecided')).toEqual([]);
  });

  test('or says that it stopped, for thousands of literals of third routes', () => {
    const parameters = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `{${name}}`);
    const pathOf = (start: string, position = -1) =>
      `/${[start, ...parameters.map((one, index) => (index === position ? 'x' : one))].join('/')}`;
    const written = range(220).flatMap((index) => [
      publicRoute(pathOf(`ARCHIVE${index}`)),
      protectedRoute(pathOf(`Archive${index}`)),
      ...parameters.flatMap((_, position) => [
        publicRoute(pathOf(`archive${index}`, position)),
        protectedRoute(pathOf(`Archive${index}`, position)),
      ]),
    ]);
    const [problem] = lintText(textOf(written)).filter(({ rule }) => rule === 'route-undecided');
    expect(problem?.message).toMatch(/^the search for requests to this route and \d+ other routes stopped after 20000/);
  });

  test('for thousands of crossing routes', () => {
    const written = [
      ...range(1_500).map((index) => publicRoute(`/a${index}/{x}`)),
      ...range(1_500).map((index) => protectedRoute(`/{x}/b${index}`)),
    ];
    expect(witnessesOf(written, 'public-overlaps-protected')).toEqual(range(1_500).map((index) => `GET /a${index}/b0`));
  });
});

const REST = { method: 'GET', upstream: 'one', isLogin: false };

/** True if a problem says that a route receives no request, or almost none. */
function isUnreachable({ rule, message }: Problem): boolean {
  return rule === 'route-unreachable' || (rule === 'route-case-twin' && message.includes('response: its path'));
}

/** The router refuses /a/x, which folds like /A/x, but matches /a/a;x, which folds only to /a/a. */
const SPELLING_TWINS = (
  [
    ['/a/**', 'public'],
    ['/A/**', 'protected'],
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
  const segments = SEGMENTS_BY_PATH.get(requestPath) ?? [];
  const hasRest = pattern.at(-1)?.kind === 'rest';
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  const isLong = hasRest ? segments.length >= fixed.length : segments.length === fixed.length;
  return isLong && fixed.every((part, index) => part.kind !== 'literal' || part.text === segments[index]);
}
