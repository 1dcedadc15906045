import type { Plan } from '../../plan/plan.ts';
import { limitDefinition } from '../../plan/rate-limits/limit-definition.ts';
import type { RateLimit } from '../../plan/rate-limits/rate-limit.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Auth } from '../../plan/tokens/auth.ts';
import { endpointsOf } from '../outcome.ts';

/** The active plan and the candidate, with the parts that are equal in both. */
export interface PlanPair {
  readonly active: Plan;
  readonly candidate: Plan;
  /** True if both plans check heads, targets and preflights alike. Each request then has the same outcome until it is matched. */
  readonly isHeadEqual: boolean;
  /** True if both plans verify tokens by the same rules, and so with the same cache. */
  readonly areTokensEqual: boolean;
  /** True if the route of the active plan and the one of the candidate treat each request alike. */
  isEqualRoute(active: Route, candidate: Route | undefined): boolean;
  /** True if the active plan has a rate limit that counts and refuses as this one of the candidate does. */
  isEqualLimit(limit: RateLimit): boolean;
}

export function pairPlans(active: Plan, candidate: Plan): PlanPair {
  const areSchemasEqual = schemasKey(active) === schemasKey(candidate);
  const candidates = new Map(candidate.routes.map((route) => [route.id, route]));
  const equalRoutes = new Map<Route, Route>();
  for (const route of active.routes) {
    const other = candidates.get(route.id);
    if (other !== undefined && isEqual(route, other, areSchemasEqual)) equalRoutes.set(route, other);
  }
  const definitions = new Set(active.rateLimits.map(limitDefinition));
  const equalLimits = new Set(candidate.rateLimits.filter((limit) => definitions.has(limitDefinition(limit))));
  return {
    active,
    candidate,
    isHeadEqual: headKey(active) === headKey(candidate),
    areTokensEqual: active.auth?.verifier === candidate.auth?.verifier,
    isEqualRoute: (route, other) => other !== undefined && equalRoutes.get(route) === other,
    isEqualLimit: (limit) => equalLimits.has(limit),
  };
}

/** A reference in a route may lead to any schema, so all schemas must be equal. */
function isEqual(route: Route, other: Route, areSchemasEqual: boolean): boolean {
  if (route.key !== other.key) return false;
  if (!areSchemasEqual && route.key.includes('"$ref"')) return false;
  return (
    authKey(route.auth) === authKey(other.auth) &&
    endpointsOf(route.upstream) === endpointsOf(other.upstream) &&
    limitsKey(route) === limitsKey(other)
  );
}

function schemasKey({ schemas }: Plan): string {
  return JSON.stringify(schemas && [schemas.schemas, schemas.files]);
}

function headKey({ server, router, cors }: Plan): string {
  return JSON.stringify([server.maxHeaders, server.keys.trustedProxies, router.keepsEncodedSlash, cors?.key]);
}

function authKey(auth: Auth | undefined): string {
  return JSON.stringify(auth && [auth.verifier.key, auth.role.key, auth.role.message]);
}

function limitsKey({ rateLimits }: Route): string {
  return JSON.stringify(rateLimits && Object.values(rateLimits).map((limits) => limits.map(limitDefinition)));
}
