import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../engine/json-pointer.ts';
import { rateLimitComparison } from '../diff/comparisons/rate-limit-comparisons.ts';
import { roleComparison, rolesOfPair, routeComparison } from '../diff/comparisons/route-comparisons.ts';
import { pairMethods } from '../diff/comparisons/token-comparisons.ts';
import { COMPARISONS } from '../diff/comparisons.ts';
import type { DiffContext, DiffFinding, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from '../diff/matched-routes.ts';
import type { DiffRoute } from '../diff/side.ts';
import { attemptsFor } from './attempts.ts';
import { type Direction, directionOf, type ProofFinding, VALIDATION_RULES } from './directions.ts';
import { changedLimits } from './limit-checks.ts';

/** Those of `diff` that are exact for each pair. */
const OTHER_COMPARISONS = COMPARISONS.filter(
  (comparison) => ![routeComparison, roleComparison, rateLimitComparison].includes(comparison),
);

/** Yields the differences of the routes of all pairs, and those of the settings. */
export function* findPairDifferences(sides: DiffContext): Generator<ProofFinding> {
  yield* changedLimits(sides);
  for (const finding of differencesOf(sides))
    yield { ...finding, direction: directionIn(finding, sides), attempts: () => attemptsFor(finding, sides) };
}

function* differencesOf(sides: DiffContext): Generator<DiffFinding> {
  yield* changedCallers(sides);
  for (const { find } of OTHER_COMPARISONS)
    for (const finding of find(sides)) {
      const [section, id] = finding.path;
      if (section !== 'upstreams') yield finding;
      // A change of an upstream is one of each route that uses it.
      else for (const pair of matchedRoutes(sides)) if (hasUpstream(pair, id)) yield { ...finding, pair };
    }
}

function hasUpstream({ from, to }: MatchedRoutePair, id: unknown): boolean {
  return [from, to].some(({ route }) => route.upstream?.id === id);
}

/** Yields the changes of the access and the roles of each pair. `diff` reports those of all routes once. */
function* changedCallers(sides: DiffContext): Generator<DiffFinding> {
  const methods = pairMethods(sides);
  for (const pair of matchedRoutes(sides)) {
    const [from, to] = [pair.from.route, pair.to.route];
    if (from.access === 'protected' && to.access === 'public') {
      yield findingAtKey(pair, 'route-public', 'access', 'is public: it no longer requires a token');
      continue;
    }
    const required = 'is protected: it requires a token';
    if (from.access !== to.access)
      yield { ...findingAtKey(pair, 'route-protected', 'access', required, requestWitness(pair)), hasCaller: false };
    if (from.auth === undefined || to.auth === undefined) continue;
    yield* rolesOfPair(pair, methods, 'role-widened', 'now allows these roles', 'next');
    yield* rolesOfPair(pair, methods, 'role-narrowed', 'no longer allows these roles', 'old');
  }
}

function directionIn(finding: DiffFinding, sides: DiffContext): Direction {
  const { rule, pair, isOpen = false } = finding;
  const direction = isOpen ? 'looser' : hasFewerValues(finding, sides) ? 'stricter' : directionOf(rule);
  if (pair === undefined) return direction;
  const [had, has] = [pair.from, pair.to].map(hasReportedRules);
  if (rule.startsWith('validation-') && !had && !has) return 'same';
  if (rule === 'validation-reported' && !had) return 'other';
  // The gateway responds itself.
  if (rule.startsWith('upstream-') && pair.to.route.upstream === undefined) return 'other';
  if (rule === 'upstream-changed' && hasSameTarget(pair)) return 'other';
  // It let these requests through.
  const isReported = VALIDATION_RULES.test(rule) && pair.from.route.validation === 'report';
  return direction === 'looser' && isReported ? 'other' : direction;
}

/** True if a difference is about audiences or listed keys, and no token method accepts one that it refused before. */
function hasFewerValues({ rule, path }: DiffFinding, sides: DiffContext): boolean {
  const key = path.findLast((step) => step === 'audience' || step === 'jwks');
  if (key === undefined || !/^token-(?:audience|keys)$/.test(rule)) return false;
  return pairMethods(sides).every(({ old, next }) => {
    const [before = [], now = []] = [old, next].map(({ effective }) => [valueAt(effective, [key]) ?? []].flat(2));
    return now.every((value) => before.includes(value)) && (before.length === 0 || now.length > 0);
  });
}

/** True if a route has rules whose violations `validation: report` only reports. */
function hasReportedRules({ route: { parameters, body } }: DiffRoute): boolean {
  return [parameters, body?.types, body?.validate, body?.streamValidatorFor].some((rule) => rule !== undefined);
}

/** True if no other server may receive the requests of a pair. */
function hasSameTarget({ from: { route: old }, to: { route: next } }: MatchedRoutePair): boolean {
  if (old.upstream === undefined || next.upstream === undefined) return false;
  const [before, now] = [old.upstream, next.upstream].map(({ endpoints, host }) => [
    host,
    endpoints.map(({ url }) => url.href).sort(),
  ]);
  const hasLostCa = next.upstream.tls().ca === undefined && old.upstream.tls().ca !== undefined;
  return isDeepStrictEqual(before, now) && !hasLostCa;
}
