import type { Manifest, Requirement, RouteEntry } from '../manifest/manifest.generated.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import { errorAt, type Finding, type RouteWitness } from '../problem/finding.ts';
import { type Condition, compileInvariants, type Invariant } from './compile-invariants.ts';
import { createRequestSearch, type RequestSearch } from './request-search.ts';
import { type Breach, breachesOf } from './requirements.ts';
import { isReadAs } from './respelled-paths.ts';

interface BrokenInvariant {
  readonly invariant: Invariant;
  readonly route: Route;
  readonly witness: RouteWitness;
  /** The member of `require` that the route does not fulfil. */
  readonly member: keyof Requirement;
  /** Says what the route does instead: `is public`. */
  readonly message: string;
}

/** The result for one invariant. It holds if both lists are empty. */
export interface Proof {
  readonly invariant: Invariant;
  /** At most one for each route, in the order of the manifest. */
  readonly violations: readonly BrokenInvariant[];
  /** The routes for which the search reached its limit. */
  readonly undecided: readonly Route[];
}

/** Proves each invariant over all requests that the plan serves, or finds requests that break it. */
export function proveInvariants(invariants: readonly Invariant[], manifest: Manifest, plan: Plan): Proof[] {
  if (invariants.length === 0) return [];
  const search = createRequestSearch(plan);
  const proofs: Proof[] = [];
  for (const invariant of invariants) {
    const violations: BrokenInvariant[] = [];
    const undecided: Route[] = [];
    const excepted = new Set(invariant.except.map(({ route }) => route));
    for (const [index, target] of search.routes.entries()) {
      const { route } = target;
      if (excepted.has(route.id) || !meets(route, invariant.when)) continue;
      const entry = manifest.routes[index] as RouteEntry;
      const found = findBreach(
        search,
        target,
        breachesOf(invariant.require, { route, entry, manifest, issuers: invariant.when.issuers }),
        invariant.when,
      );
      if (found === 'unknown') undecided.push(route);
      else if (found !== undefined) violations.push({ invariant, route, ...found });
    }
    proofs.push({ invariant, violations, undecided });
  }
  return proofs;
}

type FoundBreach = Pick<BrokenInvariant, 'witness' | 'member' | 'message'>;

function findBreach(
  search: RequestSearch,
  target: RequestSearch['routes'][number],
  breaches: readonly Breach[],
  { methods, patterns }: Condition,
): FoundBreach | 'unknown' | undefined {
  let isUnknown = false;
  for (const { member, message, methods: breaking } of breaches) {
    const asked = breaking.filter((method) => methods === undefined || methods.includes(method));
    const witness = search.find(target, asked, patterns);
    if (witness === 'unknown') isUnknown = true;
    else if (witness !== undefined) return { witness, member, message };
  }
  return isUnknown ? 'unknown' : undefined;
}

/** True if a route has the attributes of a condition. It may still serve no request of the condition. */
export function meets(route: Route, { upstreams, access, issuers }: Condition): boolean {
  // A manifest with one method has no other names.
  const accepts = (issuer: string) => route.access === 'protected' && (route.auth?.issuers?.has(issuer) ?? true);
  return (
    (upstreams?.includes(route.upstream?.id ?? '') ?? true) &&
    (access === undefined || access === route.access) &&
    (issuers === undefined || issuers.some(accepts))
  );
}

interface RoutedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: Route;
  /** The method that accepted the token, if there are several. */
  readonly issuer?: string | undefined;
}

/** Returns the invariants whose condition a request meets, including those that except its route. */
export function invariantsFor(invariants: readonly Invariant[], request: RoutedRequest): Invariant[] {
  const { method, path, route, issuer } = request;
  return invariants.filter(({ when }) => {
    const isOther = issuer !== undefined && when.issuers?.includes(issuer) === false;
    const isAsked = !isOther && (when.methods?.includes(method) ?? true);
    return isAsked && meets(route, when) && (when.patterns === undefined || isReadAs(path, when.patterns, route));
  });
}

const RULE = 'invariant-broken';

/** Checks the invariants of a manifest. Returns an error for each route that breaks one of them. */
export function findBrokenInvariants(manifest: Manifest, plan: Plan): Finding[] {
  const findings: Finding[] = [];
  const invariants = compileInvariants(manifest, findings);
  if (findings.length > 0) return findings;
  for (const proof of proveInvariants(invariants, manifest, plan)) findings.push(...findingsOf(proof, plan));
  return findings;
}

function findingsOf({ invariant, violations, undecided }: Proof, plan: Plan): Finding[] {
  const { id, path, why } = invariant;
  const reason = why === undefined ? '' : ` (${why})`;
  const relatedTo = (index: number) => ({ path: ['routes', index], message: 'the route' });
  const broken = violations.map(({ route, witness, member, message }): Finding => {
    const remedy = `change the route, or add it to "except" with a reason`;
    const text = `"${id}"${reason} does not hold: ${witness.method} ${witness.path} goes to "${route.id}", which ${message}; ${remedy}`;
    const related = relatedTo(plan.routes.indexOf(route));
    return { ...errorAt([...path, 'require', member], RULE, text), witness, related };
  });
  const unproven = undecided.map((route): Finding => {
    const text = `"${id}"${reason} is not proven for the route "${route.id}": too many routes overlap with it; make their paths more specific`;
    return { ...errorAt([...path, 'require'], RULE, text), related: relatedTo(plan.routes.indexOf(route)) };
  });
  return [...broken, ...unproven];
}
