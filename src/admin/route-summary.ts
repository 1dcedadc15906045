import type { Route } from '../engine/plan/route-definition.ts';
import type { RateLimit } from '../engine/rate-limits/rate-limit.ts';
import { callersOf, describeRoute } from '../prove/access-matrix.ts';

/** The members of a route that `/routes` and `signing-gateway routes --json` list. */
export function routeSummary(route: Route) {
  const { id, methods, path, access, upstream, auth } = route;
  return {
    id,
    methods,
    path,
    access,
    callers: callersOf(describeRoute(route)),
    upstream: upstream?.id ?? null,
    status: route.ownResponse?.status ?? null,
    roles: access === 'protected' || route.login !== undefined ? (auth?.role.redactedRoles ?? []) : [],
    login: route.login !== undefined,
    websocket: route.websocket,
    validation: route.validation,
    parameters: route.parameters !== undefined,
    body: route.body && { schema: route.body.validate !== undefined, limit_bytes: route.body.limitBytes },
    timeout_ms: route.timeoutMs ?? null,
    rate_limits: rateLimitsOf(route).map(({ id: limit }) => limit),
  };
}

/** Returns the rate limits of a route in the order in which they count a request. */
export function rateLimitsOf({ rateLimits }: Pick<Route, 'rateLimits'>): readonly RateLimit[] {
  return rateLimits === undefined ? [] : [...rateLimits.match, ...rateLimits.authorize, ...rateLimits.validate];
}

/** The members of a rate limit that the admin API lists. */
export function rateLimitSummary({ id, kinds, requests, periodMs, burst, failures, mode, store }: RateLimit) {
  return {
    id,
    key: kinds,
    requests,
    period_ms: periodMs,
    burst,
    /** The statuses that count; `null` if every request counts. */
    failures: failures === undefined ? null : [...failures],
    mode,
    store: store?.id ?? null,
  };
}
