import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../src/load.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Route } from '../../src/plan/route-definition.ts';
import { type Pattern, parsePattern, patternKey } from '../../src/plan/routing/pattern.ts';
import { containsPattern, intersect, PatternTree, takesPrecedence } from '../../src/plan/routing/pattern-overlap.ts';
import type { Problem } from '../../src/problem/problem.ts';
import { lintText } from './support.ts';

/** Few words, so that paths meet; some that fold into others, and the one that stands for any text. */
const WORDS = ['a', 'b', 'A', 'a.', 'x'];
/** What requests may have beside them. */
const SENT = [...WORDS, 'b;p', 'zz', '...'];

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

/** Routes that load: of those that match the same requests the first. */
const routes = fc.array(route, { minLength: 1, maxLength: 9 }).map((written) => {
  const taken = new Set<string>();
  return written.filter(({ path: text, method }) => {
    const requests = [method].flat().map((name) => `${name} ${patternKey(parsePattern(text))}`);
    if (requests.some((request) => taken.has(request))) return false;
    for (const request of requests) taken.add(request);
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
    bySegments.push((bySegments[length - 1] ?? []).flatMap((before) => SENT.map((text) => `${before}/${text}`)));
  return ['/', ...bySegments.slice(1).flat()];
})();

/** The routes that some request reaches, by the router that serves. */
function reached({ router, routes: all }: Plan): Set<string> {
  const found = new Set<string>();
  const methods = [...new Set(all.flatMap((one) => one.methods))];
  for (const sent of PATHS) for (const method of methods) found.add(router.match(method, sent)?.id ?? '');
  return found;
}

/** The ids of routes whose paths a rule is told at. */
function toldOf(
  problems: readonly Problem[],
  plan: Plan,
  text: string,
  isWanted: (problem: Problem) => boolean,
): string[] {
  const starts = plan.routes.map(({ id }) => ({ id, start: text.indexOf(`{"id":"${id}"`) }));
  return problems.filter(isWanted).map(({ range }) => starts.findLast(({ start }) => start < range.column)?.id ?? '');
}

describe('the prover, held to the router that serves', () => {
  test('says of a route that no request reaches it if and only if that is so', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const problems = lintText(text, { preset: 'strict' });
        const unreached = toldOf(problems, plan, text, ({ rule }) => rule === 'route-unreachable');
        const really = reached(plan);
        for (const id of unreached) expect([id, really.has(id)]).toEqual([id, false]);
        // By folding, one route may lose some of its paths to one route and some to another: of that nothing is said.
        if (written.some(({ path: sent }) => /[A.]/.test(sent))) return;
        for (const { id } of plan.routes) expect([id, unreached.includes(id)]).toEqual([id, !really.has(id)]);
      }),
      { numRuns: 100 },
    );
  });

  test('shows requests that do what is said of them', () => {
    let shown = 0;
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        for (const { witness, rule, message } of lintText(text, { preset: 'strict' })) {
          if (witness === undefined) continue;
          shown += 1;
          const got = plan.router.match(witness.method, witness.path);
          expect([rule, got?.id]).toEqual([rule, witness.route]);
          expect(message).toContain(`${witness.method} ${witness.path}`);
          if (rule.startsWith('public-')) expect([rule, got?.access]).toEqual([rule, 'public']);
        }
      }),
      { numRuns: 300 },
    );
    expect(shown).toBeGreaterThan(200);
  });

  test('finds every protected path that a public route takes in', () => {
    fc.assert(
      fc.property(routes, (written) => {
        const text = textOf(written);
        const plan = planOf(text);
        const told = toldOf(lintText(text), plan, text, ({ rule }) => rule === 'public-overlaps-protected');
        const stolen = takeovers(plan);
        for (const open of plan.routes.filter(({ access }) => access === 'public'))
          expect([open.id, told.includes(open.id)]).toEqual([open.id, stolen.has(open)]);
      }),
      { numRuns: 60, examples: [[BY_SPELLING_ALONE]] },
    );
  });
});

/** /a/x has no route, since it could be /a./x; but /a/a;x has one, since it could only be /a/a. */
const BY_SPELLING_ALONE = (
  [
    ['/a/**', 'public'],
    ['/a./**', 'protected'],
    ['/a/a', 'public'],
    ['/{p0}/{p1}', 'protected'],
  ] as const
).map(([path, access]) => ({ path, access, method: 'GET', upstream: 'one' as const, isLogin: false }));

/** The public routes that get a path of a protected one, where neither has all paths of the other. */
function takeovers({ router, routes: all }: Plan): Set<Route> {
  const patterns = new Map(all.map((one) => [one, parsePattern(one.path)]));
  const patternOf = (one: Route) => patterns.get(one) ?? [];
  const isCrossing = (open: Route, gate: Route) =>
    !containsPattern(patternOf(gate), patternOf(open)) && !containsPattern(patternOf(open), patternOf(gate));
  const gates = all.filter(({ access }) => access === 'protected');
  const found = new Set<Route>();
  for (const sent of PATHS)
    for (const gate of gates.filter((one) => isMatch(patternOf(one), sent)))
      for (const method of gate.methods) {
        const winner = router.match(method, sent);
        if (winner?.access === 'public' && isCrossing(winner, gate)) found.add(winner);
      }
  return found;
}

function isMatch(pattern: Pattern, sent: string): boolean {
  const segments = sent.split('/').filter((text) => text !== '');
  const hasRest = pattern.at(-1)?.kind === 'rest';
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  const isLong = hasRest ? segments.length >= fixed.length : segments.length === fixed.length;
  return isLong && fixed.every((part, index) => part.kind !== 'literal' || part.text === segments[index]);
}

describe('patterns as sets of paths', () => {
  const pattern = path.map(parsePattern);
  const few = PATHS.filter((sent) => sent.split('/').length <= 5 && !/;|X|zz|\.\.\./.test(sent));
  const setOf = (one: Pattern) => new Set(few.filter((sent) => isMatch(one, sent)));

  test('one contains another', () => {
    fc.assert(
      fc.property(pattern, pattern, (wide, narrow) => {
        expect(containsPattern(wide, narrow)).toBe(setOf(narrow).isSubsetOf(setOf(wide)));
      }),
    );
  });

  test('two meet in what both have', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const met = intersect(one, other);
        const both = setOf(one).intersection(setOf(other));
        expect(met === undefined ? new Set() : setOf(met)).toEqual(both);
      }),
    );
  });

  test('one of two that meet is first, unless they are the same', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const both = intersect(one, other);
        fc.pre(both !== undefined && patternKey(one) !== patternKey(other));
        expect([takesPrecedence(one, other), takesPrecedence(other, one)].toSorted()).toEqual([false, true]);
        const sent = few.find((candidate) => isMatch(one, candidate) && isMatch(other, candidate));
        const paths = [one, other].map((part) =>
          patternKey(part)
            .split('{}')
            .reduce((before, after, index) => `${before}{p${index}}${after}`),
        );
        const text = textOf(
          paths.map((written) => ({ path: written, method: 'GET', access: 'public', upstream: 'one', isLogin: false })),
        );
        if (sent !== undefined && !/[A.]/.test(text.slice(text.indexOf('"routes"'))))
          expect(planOf(text).router.match('GET', sent)?.id).toBe(takesPrecedence(one, other) ? 'r0' : 'r1');
      }),
    );
  });

  test('the tree finds all that meet, and no other', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), pattern, (added, asked) => {
        const tree = new PatternTree<Pattern>();
        for (const one of added) tree.add(one, one);
        const expected = added.filter((one) => intersect(one, asked) !== undefined);
        const found = [...tree.overlapping(asked, { remaining: 10_000 })];
        expect(new Set(found)).toEqual(new Set(expected));
        expect(found).toHaveLength(expected.length);
      }),
    );
  });
});
