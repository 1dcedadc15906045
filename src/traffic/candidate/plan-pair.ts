import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { limitDefinition, type RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import { routingKey } from '../../engine/routing/router.ts';
import { callerRulesKey, endpointsOf } from '../outcome.ts';

export type PlanPair = ReturnType<typeof pairPlans>;

/** Returns the active plan and the candidate, with the parts that are equal in both. */
export function pairPlans(active: Plan, candidate: Plan) {
  const isHeadEqual = headKey(active) === headKey(candidate);
  const definitions = new Set(active.rateLimits.map(limitDefinition));
  const equalLimits = new Set(candidate.rateLimits.filter((limit) => definitions.has(limitDefinition(limit))));
  const equalRoutes = findEqualRoutes(active, candidate);
  const haveEqualFields = active.server.hasRateLimitHeaders === candidate.server.hasRateLimitHeaders;
  if (!isHeadEqual || !haveEqualFields || !isRoutingEqual(active, candidate)) removeLimited(equalRoutes);
  else removeDependent(equalRoutes, active, candidate);
  return {
    active,
    candidate,
    // Both plans check heads, targets and preflights alike. Each request then has the same outcome until it is matched.
    isHeadEqual,
    // Both plans verify tokens by the same rules. The candidate then uses the verifier of the active plan, with its cache.
    areTokensEqual: active.auth?.verifier.key === candidate.auth?.verifier.key,
    /** True if the route of the active plan and the one of the candidate treat each request alike. */
    isEqualRoute: (route: Route, other: Route | undefined) => other !== undefined && equalRoutes.get(route) === other,
    /** True if the active plan has a rate limit with the same definition. */
    hasEqualLimit: (limit: RateLimit) => equalLimits.has(limit),
  };
}

/** Returns the routes of the active plan that have the same definition in the candidate, with those of the candidate. */
function findEqualRoutes(active: Plan, candidate: Plan): Map<Route, Route> {
  const areSchemasEqual = schemasKey(active) === schemasKey(candidate);
  const candidates = new Map(candidate.routes.map((route) => [route.id, route]));
  const equalRoutes = new Map<Route, Route>();
  // Every refusal differs.
  if (active.server.keys.responseHeaders !== candidate.server.keys.responseHeaders) return equalRoutes;
  for (const route of active.routes) {
    const other = candidates.get(route.id);
    // A reference in a route may lead to any schema, so all schemas must be equal.
    const isComparable = areSchemasEqual || !route.key.includes('"$ref"');
    if (other !== undefined && isComparable && keyOf(route) === keyOf(other)) equalRoutes.set(route, other);
  }
  return equalRoutes;
}

function keyOf(route: Route): string {
  const { key, upstream, login, auth } = route;
  // A public route accepts no tokens, but a login verifies that of the response.
  const loginTokens = login && auth?.verifier.key;
  return JSON.stringify([key, callerRulesKey(route), loginTokens, upstream && [endpointsOf(upstream), upstream.host]]);
}

/** True if both plans match each request to routes with the same id. */
function isRoutingEqual(active: Plan, candidate: Plan): boolean {
  const textOf = ({ routes }: Plan) => JSON.stringify(routes.map(routingKey).sort());
  return textOf(active) === textOf(candidate);
}

/** Removes the routes with rate limits: any request may count for another route, or a refusal may have other fields. */
function removeLimited(equalRoutes: Map<Route, Route>): void {
  for (const route of equalRoutes.keys()) if (route.rateLimits !== undefined) equalRoutes.delete(route);
}

/** Removes routes with a limit that differing routes share: it may count more or fewer requests, and so refuse one of an equal route. */
function removeDependent(equalRoutes: Map<Route, Route>, active: Plan, candidate: Plan): void {
  const equalCandidates = new Set(equalRoutes.values());
  const different = (routes: readonly Route[], equal: { has(route: Route): boolean }) =>
    routes.filter((route) => !equal.has(route)).flatMap(limitIds);
  const limits = new Set([...different(active.routes, equalRoutes), ...different(candidate.routes, equalCandidates)]);
  let count: number;
  do {
    count = limits.size;
    for (const route of equalRoutes.keys()) {
      const ids = limitIds(route);
      if (!ids.some((id) => limits.has(id))) continue;
      equalRoutes.delete(route);
      for (const id of ids) limits.add(id);
    }
  } while (limits.size > count);
}

function limitIds({ rateLimits }: Route): string[] {
  return rateLimits === undefined ? [] : Object.values(rateLimits).flatMap((limits) => limits.map(({ id }) => id));
}

function schemasKey({ schemas }: Plan): string {
  return JSON.stringify(schemas && [schemas.schemas, schemas.files]);
}

function headKey({ server, router, cors }: Plan): string {
  const { maxHeaders, headerLimitBytes, keys } = server;
  return JSON.stringify([
    maxHeaders,
    headerLimitBytes,
    keys.trustedProxies,
    keys.responseHeaders,
    router.keepsEncodedSlash,
    cors?.key,
  ]);
}
