import type { DiffContext, Difference } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import { forwardedWitness, withCaller, withHeaders } from '../diff/witnesses/sample-witnesses.ts';
import { type Allowance, covers, dividerOf } from './allowances.ts';
import { compareRequests, groupRegions } from './compared-requests.ts';
import { createConfirmation } from './confirm.ts';
import type { ProofFinding } from './directions.ts';
import { findPairDifferences } from './pair-findings.ts';
import { findRefusedSpellings } from './refused-spellings.ts';
import { createRegionSearch, type OpenedRegion, type Region, type RegionSearch, TooManyRegions } from './regions.ts';

/** The properties of a change that can be proven. */
export const PROPERTIES = ['no-new-access', 'equivalent'] as const;
export type ChangeProperty = (typeof PROPERTIES)[number];

export type ChangeProof = Awaited<ReturnType<typeof proveChange>>;

/**
 * Proves a property of the change from one manifest to another one, over all requests, or finds requests that break it. Differences that
 * a request shows are errors, the shortest first. Those that no request shows, and no comparison excludes, are warnings.
 */
export async function proveChange(
  old: DiffSide,
  next: DiffSide,
  property: ChangeProperty,
  allowances: readonly Allowance[] = [],
) {
  const change: Change = { old, next, property, allowances };
  const findings = findChanges(change);
  const confirmation = createConfirmation(old, next, property);
  const isMeant = (request: Parameters<typeof covers>[1]) => allowances.some((allowance) => covers(allowance, request));
  const { differences, omitted } = await confirmation.run(findings.get(undefined) ?? [], isMeant);
  // The accesses that allowances cover. One without any opens nothing.
  const allowed: { readonly allowance: Allowance; readonly opened: readonly Difference[] }[] = [];
  for (const allowance of allowances) {
    const { differences: ofAllowance } = await confirmation.run(findings.get(allowance) ?? []);
    allowed.push({ allowance, opened: ofAllowance.filter(({ severity }) => severity === 'error') });
  }
  return { property, holds: differences.length + omitted === 0, differences, omitted, allowed };
}

interface Change {
  readonly old: DiffSide;
  readonly next: DiffSide;
  readonly property: ChangeProperty;
  readonly allowances: readonly Allowance[];
}

type FindingsByAllowance = Map<Allowance | undefined, ProofFinding[]>;

function findChanges(change: Change): FindingsByAllowance {
  const { old, next, property, allowances } = change;
  const search = createRegionSearch(old, next, allowances.map(dividerOf));
  try {
    const findings = findLooserChanges(change, search);
    if (property === 'equivalent') findings.get(undefined)?.push(...lostRequests(change, search));
    return findings;
  } catch (error) {
    if (!(error instanceof TooManyRegions)) throw error;
    const message = 'too many routes that changed overlap with others; change fewer of them at a time';
    const overlaps = { rule: 'overlaps', message, path: ['routes'], direction: 'looser', attempts: () => [] } as const;
    return new Map([[undefined, [overlaps]]]);
  }
}

function findLooserChanges({ old, next, property, allowances }: Change, search: RegionSearch): FindingsByAllowance {
  const isProven = ({ direction }: ProofFinding) =>
    direction === 'looser' || (property === 'equivalent' && direction !== 'same');
  const groups = groupRegions([...search.find(next, old, 'sent')], allowances);
  const findings: FindingsByAllowance = new Map();
  for (const [allowance, regions] of groups) {
    const { pairs, opened } = compareRequests(regions, next);
    const sides: DiffContext = { old, next, pairs };
    // Settings do not belong to some of the requests, so no allowance covers them.
    const ofPairs = [...findPairDifferences(sides)].filter(({ pair }) => allowance === undefined || pair !== undefined);
    findings.set(allowance, [
      ...[...opened, ...findRefusedSpellings(regions, search, [next, old])].map((one) => servedOnce(one, NEW)),
      ...forwardedPreflights(sides, regions),
      ...ofPairs.filter(isProven),
    ]);
  }
  return findings;
}

/** Returns the requests that only the old manifest serves. */
function lostRequests({ old, next }: Change, search: RegionSearch): ProofFinding[] {
  const regions = [...search.find(old, next, 'sent')];
  const lost = [...compareRequests(regions, old).opened, ...findRefusedSpellings(regions, search, [old, next])];
  return lost.map((one) => ({ ...servedOnce(one, LOST), side: 'old' }));
}

/** The words about requests that only one manifest serves. */
const NEW = {
  rule: 'new-access',
  verbs: ['serves', 'may serve'],
  other: 'served before',
  refused: 'was refused before',
};
const LOST = {
  rule: 'lost-access',
  verbs: ['served', 'may have served'],
  other: 'serves now',
  refused: 'is refused now',
};

function servedOnce({ region, reader, isFound }: OpenedRegion, words: typeof NEW): ProofFinding {
  const { route, method, path } = region;
  const request = { method, url: path };
  // A body needs another method only to be usual.
  const valid = { ...request, ...forwardedWitness({ from: route, to: route, request })?.request, method };
  const requests =
    reader === undefined
      ? `requests that no route ${words.other}`
      : `a spelling of its path that ${words.refused}, because some servers read it as one of "${reader.route.id}"`;
  return {
    rule: words.rule,
    message: `the route "${route.route.id}" ${words.verbs[isFound ? 0 : 1]} ${requests}`,
    path: [...route.path, 'path'],
    direction: 'looser',
    attempts: () => (isFound ? [{ request: valid }] : []),
  };
}

const PREFLIGHT = ['Origin', 'https://page.example', 'Access-Control-Request-Method', 'GET'];

/** Without `cors`, the gateway forwards the preflights that it responded to itself. */
function forwardedPreflights({ old, next }: DiffContext, regions: readonly Region[]): ProofFinding[] {
  if (old.plan.cors === undefined || next.plan.cors !== undefined) return [];
  const region = regions.find(({ route: { route }, path }) => next.plan.router.match('OPTIONS', path) === route);
  if (region === undefined) return [];
  const { route, path: url } = region;
  const request = { method: 'OPTIONS', url };
  const preflight = withHeaders(withCaller(request, { from: route, to: route, request }), PREFLIGHT);
  const message = `the route "${route.route.id}" forwards preflights, to which the gateway responded itself`;
  const attempts = () => [{ request: preflight }];
  return [{ rule: 'preflight-forwarded', message, path: route.path, direction: 'looser', attempts }];
}
