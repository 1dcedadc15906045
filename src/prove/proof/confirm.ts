import { isDeepStrictEqual } from 'node:util';
import { completeWitness, toDifference } from '../diff/diff-manifests.ts';
import type { DiffContext, Difference, DiffRequest } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import { HEADER_RULES } from './directions.ts';
import { createOfflineSide, type SideOutcome } from './offline-side.ts';
import type { ProofFinding } from './pair-checks.ts';
import type { Region } from './regions.ts';

/** The differences of one kind that are run. */
const MAX_OF_RULE = 100;

/** True for a request that is allowed. */
type IsMeant = (request: Pick<Region, 'method' | 'path' | 'route'>) => boolean;

/** Runs the request of each difference with both manifests. */
export function createConfirmation(old: DiffSide, next: DiffSide, property: 'no-new-access' | 'equivalent') {
  const [before, now] = [createOfflineSide(old), createOfflineSide(next)];
  const sides: DiffContext = { old, next, pairs: [] };
  return { run };

  /** Returns the differences that a request shows as errors, the shortest first, the others as warnings, and the number of those not run. */
  async function run(findings: readonly ProofFinding[], isMeant: IsMeant = () => false) {
    const differences: Difference[] = [];
    let omitted = 0;
    for (const ofRule of Map.groupBy(findings, ({ rule }) => rule).values()) {
      omitted += Math.max(0, ofRule.length - MAX_OF_RULE);
      for (const finding of ofRule.slice(0, MAX_OF_RULE)) differences.push(await show(finding, isMeant));
    }
    const distinct = new Map(differences.map((difference) => [JSON.stringify(difference), difference]));
    return { differences: [...distinct.values()].sort((a, b) => lengthOf(a) - lengthOf(b)), omitted };
  }

  async function show(finding: ProofFinding, isMeant: IsMeant): Promise<Difference> {
    for (const request of requestsOf(finding))
      for (const options of finding.sendings ?? [{}]) {
        const [was, is] = [await before(request, options), await now(request, options)];
        if (!isShown(finding, was, is) || isMeantRequest(request, isMeant)) continue;
        const message = `${finding.message}: ${was.text} before, and now ${is.text}`;
        return toDifference(['error', ''], { ...finding, message, witness: { request }, hasCaller: false }, sides);
      }
    const { witness: _witness, ...undecided } = finding;
    return toDifference(['warning', ''], { ...undecided, message: `undecided: ${finding.message}` }, sides);
  }

  function isShown({ rule }: ProofFinding, was: SideOutcome, is: SideOutcome): boolean {
    if (property === 'equivalent') return !isDeepStrictEqual(was.seen, is.seen);
    if (HEADER_RULES.test(rule)) return is.isServed && !isDeepStrictEqual(was.seen, is.seen);
    return is.isServed && (!was.isServed || was.target !== is.target);
  }

  function isMeantRequest({ method, url }: DiffRequest, isMeant: IsMeant): boolean {
    const path = url.replace(/\?.*/s, '');
    const route = next.routeById.get(next.plan.router.match(method, path)?.id ?? '');
    return route !== undefined && isMeant({ method, path, route });
  }
}

/** Differences without a request come last. */
function lengthOf({ witness }: Difference): number {
  return witness === undefined ? Number.MAX_SAFE_INTEGER : JSON.stringify(witness).length;
}

/** Returns the request of a finding, and the same with the method of its region: comparisons choose methods that have bodies. */
function requestsOf(finding: ProofFinding): DiffRequest[] {
  const request = completeWitness(finding)?.request;
  const method = finding.pair?.request?.method;
  if (request === undefined) return [];
  return method === undefined || method === request.method ? [request] : [request, { ...request, method }];
}
