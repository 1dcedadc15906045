import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diff } from '../../src/diff/diff.ts';
import type { Difference } from '../../src/diff/difference.ts';
import { readRequestTarget } from '../../src/gateway/request/request-target.ts';
import { HTTP_METHODS } from '../../src/http-methods.ts';
import { comparePlans } from '../../src/plan/changes.ts';
import type { Route } from '../../src/plan/route-definition.ts';
import { type AnyManifest, aimedUrl, anyManifest } from '../support/any-manifest.ts';
import { sideOf } from './support.ts';

/** How many pairs are compared; DIFF_RUNS asks for more. */
const RUNS = Number(process.env['DIFF_RUNS'] ?? 100);

/** A manifest and another one that has some of its routes, and some of a third one's in their places. */
const pair = fc
  .tuple(anyManifest, anyManifest, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }))
  .map(([old, other, keeps]): [AnyManifest, AnyManifest] => {
    const kept = old.routes.filter((_, index) => keeps[index]);
    const taken = new Set(kept.map(({ id }) => id));
    const others = other.routes.filter(({ id }) => !taken.has(id));
    return [old, { ...other, routes: [...kept, ...others] }];
  });

/** A path that every server reads alike. */
const PLAIN = /^(?:\/(?:Admin|[a-z0-9]+(?:\.[a-z0-9]+)*))*\/?$/;

function isPassed(path: string): boolean {
  try {
    readRequestTarget(path, undefined, true);
    return true;
  } catch {
    return false;
  }
}

const METHOD = fc.constantFrom(...HTTP_METHODS);

/** What must be told where a request went from the one route to the other: one at least of each list. */
function owed(from: Route | undefined, to: Route | undefined): string[][] {
  if (from === undefined)
    return to === undefined ? [] : [[to.access === 'public' ? 'route-added-public' : 'route-added']];
  if (to === undefined) return [['route-removed', 'route-narrowed']];
  const rules: string[][] = from.id === to.id ? [] : [['route-shadowed']];
  if (from.access === 'protected' && to.access === 'public') rules.push(['route-public']);
  if (from.access === 'public' && to.access === 'protected') rules.push(['route-protected']);
  if (from.login !== undefined && to.login === undefined) rules.push(['login-removed']);
  const more = to.auth?.role.required.some((role) => from.auth?.role.required.includes(role) === false);
  if (more) rules.push(['role-widened']);
  if (from.upstreamPath === undefined && to.upstreamPath !== undefined) rules.push(['upstream-path-changed']);
  if ((from.body?.limitBytes ?? Infinity) < (to.body?.limitBytes ?? Infinity)) rules.push(['limit-raised']);
  if (from.body?.validate !== undefined && to.body?.validate === undefined) rules.push(['body-loosened']);
  return rules;
}

describe('the differences of two manifests', () => {
  it('are none where they are the same', () => {
    fc.assert(
      fc.property(anyManifest, (manifest) => {
        const side = sideOf(manifest);
        fc.pre(side !== undefined);
        if (side !== undefined) expect(diff(side, side)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('tell of every request that another route has, above all of one that needs no token any more', () => {
    let opened = 0;
    fc.assert(
      fc.property(
        pair,
        fc.array(fc.tuple(METHOD, aimedUrl), { minLength: 40, maxLength: 40 }),
        ([old, next], asked) => {
          const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
          fc.pre(before !== undefined && now !== undefined);
          if (before === undefined || now === undefined) return;
          const differences = diff(before, now);
          const told = new Set(differences.map(({ rule }) => rule));
          for (const [method, url] of asked) {
            const path = url({ ...next, routes: [...old.routes, ...next.routes] }).replace(/\?.*/, '');
            if (!isPassed(path)) continue;
            const [from, to] = [before, now].map(({ plan }) => plan.router.match(method, path));
            if (from?.access === 'protected' && to?.access === 'public') opened += 1;
            // A path that only some servers take for another one has a route as long as that one's asks for no more.
            const isTwin = !PLAIN.test(path) && (from === undefined) !== (to === undefined);
            if (isTwin)
              expect(
                differences.filter(({ severity }) => to?.access !== 'public' || severity !== 'info'),
                `${method} ${path}`,
              ).not.toEqual([]);
            else
              for (const rules of owed(from, to))
                expect(
                  [...told].filter((rule) => rules.includes(rule)),
                  `${method} ${path}: ${rules}`,
                ).not.toEqual([]);
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(opened).toBeGreaterThan(RUNS / 10);
  }, 120_000);

  it('name the same public routes as the change list of a reload', () => {
    let count = 0;
    fc.assert(
      fc.property(pair, ([old, next]) => {
        const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
        fc.pre(before !== undefined && now !== undefined);
        if (before === undefined || now === undefined) return;
        const publicRules = diff(before, now).filter(({ rule }) =>
          ['route-public', 'route-added-public'].includes(rule),
        );
        const ids = new Set(publicRules.map(({ message }) => /"([^"]+)"/.exec(message)?.[1]));
        const { nowPublic } = comparePlans(before.plan, now.plan);
        expect(new Set(nowPublic)).toEqual(ids);
        count += nowPublic.length;
      }),
      { numRuns: RUNS },
    );
    expect(count).toBeGreaterThan(RUNS / 10);
  }, 120_000);

  it('show only requests for which they are true', () => {
    fc.assert(
      fc.property(pair, ([old, next]) => {
        const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
        fc.pre(before !== undefined && now !== undefined);
        if (before === undefined || now === undefined) return;
        for (const difference of diff(before, now)) {
          const request = requestOf(difference);
          if (request === undefined) continue;
          const path = request.url.replace(/\?.*/, '');
          const [from, to] = [before, now].map(({ plan }) => plan.router.match(request.method, path));
          const rules = [...owed(from, to).flat(), ...ALSO];
          expect(rules, JSON.stringify(difference)).toContain(difference.rule);
        }
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

/** What is told of requests beside what is looked at here. */
const ALSO = [
  'role-narrowed',
  'login-added',
  'login-changed',
  'limit-lowered',
  'body-tightened',
  'body-loosened',
  'body-changed',
  'media-types-widened',
  'media-types-narrowed',
  'parameters-loosened',
  'parameters-tightened',
  'parameters-changed',
  'validation-reported',
  'validation-enforced',
  'headers-changed',
  'encoded-slash-kept',
  'encoded-slash-refused',
  'upstream-path-changed',
];

function requestOf({ witness }: Difference) {
  return witness !== undefined && 'request' in witness ? witness.request : undefined;
}
