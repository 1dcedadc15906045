import { valueAt } from '../../../engine/json-pointer.ts';
import { ANY_ROLE, guardEntries, rolesOfEntry } from '../../../engine/tokens/token-entries.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from '../matched-routes.ts';
import { becameProtected, becamePublic, type RoutePair } from '../route-pairing.ts';
import type { DiffMethod, DiffRoute, DiffSide } from '../side.ts';
import { withCaller } from '../witnesses/sample-witnesses.ts';
import { type MethodPair, pairMethods } from './token-comparisons.ts';

export const routeComparison: Comparison = {
  rules: {
    'route-public': ['error', 'Requests that required a token no longer require one.'],
    'route-protected': ['warning', 'Requests that required no token now require one.'],
    'route-shadowed': ['warning', 'Requests go to another route.'],
    'route-removed': ['warning', 'A route was removed, and no other route receives all of its requests.'],
    'route-narrowed': [
      'warning',
      'A route that still exists no longer receives some requests, and no other route does.',
    ],
    'route-added': [
      'info',
      'Requests that matched no route now go to a protected route, or a new route receives no requests.',
    ],
    'route-added-public': ['warning', 'Requests that matched no route now go to a public route.'],
  },
  *find(sides) {
    for (const pair of sides.pairs) {
      if (pair.from === undefined) yield* gainedRequests(pair, sides);
      if (pair.to === undefined) yield* lostRequests(pair, sides);
    }
    for (const pair of matchedRoutes(sides)) {
      yield* changedAccess(pair);
      if (pair.from.route.id !== pair.to.route.id) yield movedRequests(pair, sides);
    }
    for (const { route, path } of unreachedRoutes(sides, 'old')) {
      const message = `the route "${route.id}" was removed; it received no requests`;
      yield { rule: 'route-removed', message, path, side: 'old' };
    }
    for (const { route, path } of unreachedRoutes(sides, 'next'))
      yield { rule: 'route-added', message: `the route "${route.id}" is new and receives no requests`, path };
  },
};

function* gainedRequests(pair: RoutePair<DiffRoute>, { old }: DiffContext): Generator<DiffFinding> {
  const { to } = pair;
  if (to === undefined) return;
  const { access } = to.entry;
  const change = old.routeById.has(to.route.id) ? 'receives more requests' : 'is new';
  const message = `the ${access} route "${to.route.id}" ${change}`;
  const rule = access === 'public' ? 'route-added-public' : 'route-added';
  yield { rule, message, path: to.path, witness: requestWitness(pair) };
}

function* lostRequests(pair: RoutePair<DiffRoute>, { next }: DiffContext): Generator<DiffFinding> {
  const { from } = pair;
  if (from === undefined) return;
  const retained = next.routeById.get(from.route.id);
  const [subject, witness] = [`the route "${from.route.id}"`, requestWitness(pair)];
  if (retained === undefined)
    yield { rule: 'route-removed', message: `${subject} was removed`, path: from.path, side: 'old', witness };
  else yield { rule: 'route-narrowed', message: `${subject} receives fewer requests`, path: retained.path, witness };
}

/** The witness is a request without a token. */
function* changedAccess(pair: MatchedRoutePair): Generator<DiffFinding> {
  const finding = (rule: string, message: string) => ({
    ...findingAtKey(pair, rule, 'access', message, requestWitness(pair)),
    hasCaller: false,
  });
  if (becamePublic(pair)) yield finding('route-public', 'is now public: it no longer requires a token');
  if (becameProtected(pair)) yield finding('route-protected', 'is now protected: it requires a token');
}

function movedRequests(pair: MatchedRoutePair, { next }: DiffContext): DiffFinding {
  const { from, to, request, others = 0 } = pair;
  const message = next.routeById.has(from.route.id)
    ? `the route "${to.route.id}" now receives requests that went to "${from.route.id}"`
    : `the route "${to.route.id}" now receives requests of "${from.route.id}", which was removed`;
  // Without a token, two protected routes refuse the request alike.
  const hasCaller = [from, to].every(({ entry }) => entry.access === 'protected');
  const witness = request && { request: hasCaller ? withCaller(request, pair) : request };
  const rest = others === 0 ? '' : `, and requests of up to ${others} more routes like it`;
  return { rule: 'route-shadowed', message: `${message}${rest}`, path: [...to.path, 'path'], witness };
}

/** Returns the routes that only one side has, and that receive no requests. */
function unreachedRoutes({ pairs, old, next }: DiffContext, side: 'old' | 'next'): DiffRoute[] {
  const [own, other] = side === 'old' ? [old, next] : [next, old];
  const reached = new Set(pairs.map(({ from, to }) => (side === 'old' ? from : to)));
  return own.routes.filter((route) => !other.routeById.has(route.route.id) && !reached.has(route));
}

export const roleComparison: Comparison = {
  rules: {
    'role-widened': ['error', 'A role is now allowed, on every route or on a route with its own list.'],
    'role-narrowed': ['warning', 'A role is no longer allowed, on every route or on a route with its own list.'],
  },
  *find(sides) {
    const widened = ['these roles are now allowed', 'now allows these roles'] as const;
    yield* missingRoles(sides, 'role-widened', 'old', 'next', widened);
    const narrowed = ['these roles are no longer allowed', 'no longer allows these roles'] as const;
    yield* missingRoles(sides, 'role-narrowed', 'next', 'old', narrowed);
  },
};

/** Yields the roles that only the side `more` allows: by default, and on the routes that list roles. */
function* missingRoles(
  sides: DiffContext,
  rule: string,
  less: 'old' | 'next',
  more: 'old' | 'next',
  [messageOfAll, messageOfRoute]: readonly [string, string],
): Generator<DiffFinding> {
  const methods = pairMethods(sides);
  for (const pair of methods) {
    const roles = missingFrom(rolesOf(pair[less], sides[less]), rolesOf(pair[more], sides[more]));
    const path = [...pair.next.rolePath, 'allow'];
    if (roles.length > 0) yield { rule, message: `${messageOfAll}${ofMethod(pair)}: ${printed(roles)}`, path };
  }
  for (const pair of pairsWithRoles(sides)) yield* rolesOfPair(pair, methods, rule, messageOfRoute, more);
}

/** Yields the roles that only one of two routes allows. Both routes have roles. */
export function* rolesOfPair(
  pair: MatchedRoutePair,
  methods: readonly MethodPair[],
  rule: string,
  message: string,
  more: 'old' | 'next',
): Generator<DiffFinding> {
  const less = more === 'old' ? 'next' : 'old';
  const routes = { old: pair.from, next: pair.to };
  for (const method of methods.filter((one) => isAccepted(one.old, pair.from) && isAccepted(one.next, pair.to))) {
    const missing = missingFrom(requiredRoles(routes[less], method[less]), requiredRoles(routes[more], method[more]));
    const text = `${message}${ofMethod(method)}: ${printed(missing)}`;
    const witness = callerWitness(pair, missing, method);
    if (missing.length > 0) yield findingAtKey(pair, rule, 'roles', text, witness);
  }
}

function ofMethod({ next }: MethodPair): string {
  return next.issuer === undefined ? '' : ` for tokens of "${next.issuer}"`;
}

function isAccepted(method: DiffMethod, { entry, side }: DiffRoute): boolean {
  return guardEntries(side.methods, entry).includes(method);
}

/** Yields the pairs whose routes list roles. A change of the default list is reported once, at that list. */
function* pairsWithRoles(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) {
    const isProtected = pair.from.route.auth !== undefined && pair.to.route.auth !== undefined;
    if (isProtected && (pair.from.entry.roles ?? pair.to.entry.roles) !== undefined) yield pair;
  }
}

function printed(roles: readonly (readonly [role: string, text: string])[]): string {
  return roles.map(([, text]) => text).join(', ');
}

/** Returns a request of a caller with one of the roles. A public route checks them only in the responses of a login. */
function callerWitness(
  { request, from, to }: MatchedRoutePair,
  [role]: readonly (readonly [role: string, text: string])[],
  { next: { issuer } }: MethodPair,
): DiffWitness | undefined {
  const isProtected = from.route.access === 'protected' && to.route.access === 'protected';
  return request === undefined || role === undefined || !isProtected
    ? undefined
    : { request: { ...request, role: role[0], ...(issuer !== undefined && { issuer }) } };
}

/** The roles of a list, with the text that may be printed for each one. */
type RoleNames = ReadonlyMap<string, string>;

function rolesOf({ role, rolePath }: DiffMethod, { redacted }: DiffSide): RoleNames {
  return namesOf(role, valueAt(redacted, rolePath) as typeof role);
}

/** Returns the roles of a method that a route requires. */
function requiredRoles({ entry, redactedEntry, side }: DiffRoute, method: DiffMethod): RoleNames {
  if (entry.roles === undefined) return rolesOf(method, side);
  const isAllowed = (role: string) => role === ANY_ROLE || method.allow.includes(role);
  return new Map([...namesOf(entry.roles, redactedEntry.roles)].filter(([role]) => isAllowed(role)));
}

function namesOf(entry: Parameters<typeof rolesOfEntry>[0] = [], redacted: typeof entry = []): RoleNames {
  const [roles, texts] = [entry, redacted].map(rolesOfEntry);
  return new Map(roles?.map((role, index) => [role, texts?.[index] ?? '']));
}

function missingFrom(list: RoleNames, roles: RoleNames): readonly (readonly [role: string, printed: string])[] {
  if (list.has(ANY_ROLE)) return [];
  return [...roles].filter(([role]) => !list.has(role));
}
