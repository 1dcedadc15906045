import { isDeepStrictEqual } from 'node:util';
import { completeWitness, toDifference } from '../diff/diff-manifests.ts';
import type { DiffContext, Difference, DiffRequest } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
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

/** Returns the request of a finding, also with the method of its region and with a valid body: comparisons show only one violation. */
function requestsOf(finding: ProofFinding): DiffRequest[] {
  const request = completeWitness(finding)?.request;
  if (request === undefined) return [];
  const { pair } = finding;
  const { method = request.method, url } = pair?.request ?? request;
  const sent = { method: request.method, url };
  const valid = pair && forwardedWitness({ from: pair.to, to: pair.to, request: sent })?.request;
  const requests = [request, ...(valid?.body === undefined ? [] : [withBody(request, valid, valid.body)])];
  return method === request.method ? requests : [...requests, ...requests.map((one) => ({ ...one, method }))];
}

/** Returns the request with the body of a valid one, in place of a body without meaning: blanks at its end change nothing. */
function withBody(
  { bodyBytes = 0, ...request }: DiffRequest,
  { headers = [] }: DiffRequest,
  body: string,
): DiffRequest {
  if (request.body !== undefined || bodyBytes > MAX_BYTES) return request;
  const type = headers.indexOf('Content-Type');
  const own = request.headers ?? [];
  const hasType = own.includes('Content-Type');
  return {
    ...request,
    headers: hasType ? own : [...own, ...headers.slice(type, type + 2)],
    body: body.padEnd(bodyBytes),
  };
}

const MAX_BYTES = 1_000_000;
