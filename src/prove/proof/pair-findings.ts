import { valueAt } from '../../engine/json-pointer.ts';
import { rateLimitComparison } from '../diff/comparisons/rate-limit-comparisons.ts';
import { roleComparison, routeComparison } from '../diff/comparisons/route-comparisons.ts';
import { pairMethods } from '../diff/comparisons/token-comparisons.ts';
import { upstreamComparison } from '../diff/comparisons/upstream-comparisons.ts';
import { COMPARISONS } from '../diff/comparisons.ts';
import type { DiffContext, DiffFinding } from '../diff/difference.ts';
import type { DiffRoute } from '../diff/side.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { directionOf, type ProofFinding, VALIDATION_RULES } from './directions.ts';
import { loginSendings } from './offline-side.ts';
import { createPairChecks } from './pair-checks.ts';
import { claimRequests, settingRequests } from './setting-requests.ts';

/** Those of `diff`, apart from what `createPairChecks` compares for each pair. */
const OTHER_COMPARISONS = COMPARISONS.filter(
  (comparison) => ![routeComparison, roleComparison, rateLimitComparison, upstreamComparison].includes(comparison),
);

/** The kinds that `createPairChecks` finds for each pair. */
const PAIR_RULES = /^(?:issuer-(?:accepted|refused)|login-issuer|upstream-(?:settings|host-header))$/;

/** Yields the differences of the routes of all pairs, and those of the settings. */
export function* findPairDifferences(sides: DiffContext): Generator<ProofFinding> {
  const checks = createPairChecks(sides);
  for (const pair of sides.pairs) {
    if (pair.from === undefined || pair.to === undefined) continue;
    for (const check of checks) yield* check({ ...pair, from: pair.from, to: pair.to });
  }
  for (const { find } of OTHER_COMPARISONS)
    for (const finding of find(sides)) if (!PAIR_RULES.test(finding.rule)) yield withDirection(finding, sides);
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

function withDirection(finding: DiffFinding, sides: DiffContext): ProofFinding {
  const { rule, pair } = finding;
  const isStricter = hasFewerValues(finding, sides);
  const direction = finding.isOpen ? 'looser' : isStricter ? 'stricter' : directionOf(rule);
  if (pair === undefined) return { ...finding, direction, requests: settingRequests(finding, sides) };
  const [had, has] = [pair.from, pair.to].map(hasReportedRules);
  if (rule.startsWith('validation-') && !had && !has) return { ...finding, direction: 'same' };
  if (rule === 'validation-reported' && !had) return { ...finding, direction: 'other' };
  if (direction === 'looser' && VALIDATION_RULES.test(rule) && pair.from.route.validation === 'report')
    return { ...finding, direction: 'other' };
  if (rule.startsWith('claim-header-')) return { ...finding, direction, requests: claimRequests(pair) };
  const isLarge = rule === 'limit-raised' && finding.path.includes('login');
  if (!rule.startsWith('login-') && !isLarge) return { ...finding, direction };
  return { ...finding, direction, witness: forwardedWitness(pair), sendings: loginSendings(pair, isLarge) };
}

/** True if a route has rules whose violations `validation: report` only reports. */
function hasReportedRules({ route: { parameters, body } }: DiffRoute): boolean {
  return [parameters, body?.types, body?.validate, body?.streamValidatorFor].some((rule) => rule !== undefined);
}
