import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequestTarget } from '../../src/engine/gateway/request/request-head.ts';
import { HTTP_METHODS } from '../../src/engine/http1/http-methods.ts';
import type { Route } from '../../src/engine/plan/route-definition.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { Difference } from '../../src/prove/diff/difference.ts';
import { anyManifest, matchingUrl } from '../support/any-manifest.ts';
import { comparePlans } from '../support/plan-changes.ts';
import { runs } from '../support/runs.ts';
import { anyPair } from './any-pair.ts';
import { sideOf } from './support.ts';

/** The number of compared pairs. */
const RUNS = runs(100);

/** A path that has the same meaning for every server. */
const PLAIN = /^(?:\/(?:Admin|[a-z0-9]+(?:\.[a-z0-9]+)*))*\/?$/;

function isAccepted(path: string): boolean {
  try {
    readRequestTarget(path, undefined, true);
    return true;
  } catch {
    return false;
  }
}

const METHOD = fc.constantFrom(...HTTP_METHODS);

/** Returns lists of rules: at least one rule of each list must report a request that moved between these routes. */
function expectedRules(from: Route | undefined, to: Route | undefined): string[][] {
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
  it('are empty if the manifests are equal', () => {
    fc.assert(
      fc.property(anyManifest, (manifest) => {
        const side = sideOf(manifest);
        fc.pre(side !== undefined);
        if (side !== undefined) expect(diff(side, side)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('include every request that goes to another route, or no longer requires a token', () => {
    let opened = 0;
    fc.assert(
      fc.property(
        anyPair,
        fc.array(fc.tuple(METHOD, matchingUrl), { minLength: 40, maxLength: 40 }),
        ([old, next], requests) => {
          const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
          fc.pre(before !== undefined && now !== undefined);
          if (before === undefined || now === undefined) return;
          const differences = diff(before, now);
          const reported = new Set(differences.map(({ rule }) => rule));
          for (const [method, url] of requests) {
            const path = url({ ...next, routes: [...old.routes, ...next.routes] }).replace(/\?.*/, '');
            if (!isAccepted(path)) continue;
            const [from, to] = [before, now].map(({ plan }) => plan.router.match(method, path));
            if (from?.access === 'protected' && to?.access === 'public') opened += 1;
            // The router matches a path that some servers fold only if the folded path belongs to no stricter route.
            const isTwin = !PLAIN.test(path) && (from === undefined) !== (to === undefined);
            if (isTwin)
              expect(
                differences.filter(({ severity }) => to?.access !== 'public' || severity !== 'info'),
                `${method} ${path}`,
              ).not.toEqual([]);
            else
              for (const rules of expectedRules(from, to))
                expect(
                  [...reported].filter((rule) => rules.includes(rule)),
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
      fc.property(anyPair, ([old, next]) => {
        const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
        fc.pre(before !== undefined && now !== undefined);
        if (before === undefined || now === undefined) return;
        const publicRules = diff(before, now).filter(({ rule }) =>
          ['route-public', 'route-added-public'].includes(rule),
        );
        const ids = new Set(publicRules.map(({ message }) => /"([^"]+)"/.exec(message)?.[1]));
        const { now_public } = comparePlans(before.plan, now.plan);
        expect(new Set(now_public)).toEqual(ids);
        count += now_public.length;
      }),
      { numRuns: RUNS },
    );
    expect(count).toBeGreaterThan(RUNS / 10);
  }, 120_000);

  it('have witnesses that the routers match as reported', () => {
    fc.assert(
      fc.property(anyPair, ([old, next]) => {
        const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
        fc.pre(before !== undefined && now !== undefined);
        if (before === undefined || now === undefined) return;
        for (const difference of diff(before, now)) {
          const request = requestOf(difference);
          if (request === undefined) continue;
          const path = request.url.replace(/\?.*/, '');
          const [from, to] = [before, now].map(({ plan }) => plan.router.match(request.method, path));
          const rules = [...expectedRules(from, to).flat(), ...OTHER_RULES];
          expect(rules, JSON.stringify(difference)).toContain(difference.rule);
        }
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

/** Rules with witnesses that `expectedRules` does not cover. */
const OTHER_RULES = [
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
  return witness?.request;
}
