import { isDeepStrictEqual } from 'node:util';
import { toDifference } from '../diff/diff-manifests.ts';
import type { DiffContext, Difference, DiffRequest } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import { CERTAIN_RULES, HEADER_RULES, type ProofFinding } from './directions.ts';
import { createOfflineSide, type SendOptions, type SideOutcome } from './offline-side.ts';
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
    for (const attempt of finding.attempts()) {
      const { request } = attempt;
      const [was, is] = [await before(request, attempt), await now(request, attempt)];
      const change = isMeantRequest(request, isMeant) ? undefined : changeOf(finding, was, is);
      if (change === undefined) continue;
      const message = `${finding.message}: ${timesOf(attempt)}${change}`;
      return toDifference(['error', ''], { ...finding, message, witness: { request }, hasCaller: false }, sides);
    }
    const { witness: _witness, ...rest } = finding;
    if (CERTAIN_RULES.test(finding.rule)) return toDifference(['error', ''], rest, sides);
    return toDifference(['warning', ''], { ...rest, message: `undecided: ${finding.message}` }, sides);
  }

  /** Returns the change of the outcome if it shows a finding. */
  function changeOf({ rule, path }: ProofFinding, was: SideOutcome, is: SideOutcome): string | undefined {
    const isOther = !isDeepStrictEqual(was.seen, is.seen);
    const text = `${was.text} before, and now ${is.text}`;
    if (property === 'equivalent') return isOther ? text : undefined;
    if (rule === 'cors-widened') return newPermission(String(path[1]), was, is);
    // The response may differ because of another change.
    if (HEADER_RULES.test(rule))
      return is.isServed && !isDeepStrictEqual(was.seen['upstream'], is.seen['upstream']) ? text : undefined;
    return is.isServed && (!was.isServed || was.target !== is.target) ? text : undefined;
  }

  /** @param key the member of `cors` that allows it; another text for all of them */
  function newPermission(key: string, { permissions: before }: SideOutcome, { permissions: now }: SideOutcome) {
    const header = CORS_HEADERS[key] ?? '';
    const isNew = (one: string) => !before.has(one) && !before.has(one.replace(/: .*/, ': *'));
    const permission = [...now].find((one) => one.startsWith(`Access-Control-${header}`) && isNew(one));
    if (permission === undefined) return undefined;
    return `the response now has ${next.secrets.redactText(old.secrets.redactText(permission))}`;
  }

  function isMeantRequest({ method, url }: DiffRequest, isMeant: IsMeant): boolean {
    const path = url.replace(/\?.*/s, '');
    const route = next.routeById.get(next.plan.router.match(method, path)?.id ?? '');
    return route !== undefined && isMeant({ method, path, route });
  }
}

/** The headers of the members of `cors`. */
const CORS_HEADERS: Readonly<Record<string, string>> = {
  origins: 'Allow-Origin',
  methods: 'Allow-Methods',
  headers: 'Allow-Headers',
  exposedHeaders: 'Expose-Headers',
  credentials: 'Allow-Credentials',
  maxAge: 'Max-Age',
};

/** Describes the requests before the last one, whose outcome counts. */
function timesOf({ repetition, first }: SendOptions): string {
  const { times = 1 } = repetition ?? {};
  if (times === 1) return '';
  return first === undefined ? `sent ${times} times, ` : `sent after ${times - 1} requests with another key, `;
}

/** Differences without a request come last. */
function lengthOf({ witness }: Difference): number {
  return witness === undefined ? Number.MAX_SAFE_INTEGER : JSON.stringify(witness).length;
}
