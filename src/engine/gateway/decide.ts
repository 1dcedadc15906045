import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import type { RateLimitStage, RouteRateLimits } from '../rate-limits/rate-limit.ts';
import type { ForwardedClaims } from '../tokens/forwarded-claims.ts';
import type { Auth, Principal } from '../tokens/verifier.ts';
import { hasEncodedSlash, type RequestTarget } from './request/request-head.ts';
import { Refusal } from './response/refusal.ts';

/**
 * The steps of one request. Each step throws its refusal. Three kinds of requests have them: a request that is served, one that the
 * candidate compares, and one that a log has recorded. `Caller` is a verified caller; only `authenticate` creates one.
 */
export interface RequestSteps<Caller = Principal> {
  readonly method: string;
  /** True for a WebSocket handshake. */
  readonly isHandshake: boolean;
  /** Checks the headers that determine routing, access and framing. */
  readHead(plan: Plan): void;
  /** True for `OPTIONS *`, which applies to the server and not to a route (RFC 9110 section 9.3.7). */
  isServerOptions(): boolean;
  readTarget(plan: Plan): RequestTarget;
  isPreflight(): boolean;
  /** Stores the matched route, which the later steps read. */
  setRoute(route: Route): void;
  checkOrigin(route: Route): void;
  /** Returns a promise only if a store has to be asked. */
  applyRateLimits(stage: RateLimitStage, limits: RouteRateLimits): void | Promise<void>;
  authenticate(auth: Auth): Caller | Promise<Caller>;
  authorize(auth: Auth, caller: Caller, claims: ForwardedClaims | undefined): void;
  validateParameters(route: Route): void | Promise<void>;
  /** Applies the body rule of the route, as far as that is possible before the request is forwarded. */
  readBody(route: Route): void | Promise<void>;
}

/** The route that forwards a request, or the response of the gateway itself to a request that needs no route. */
export type Decision = Route | 'server-options' | 'preflight';

/** Yields the promises that a decision waits for, and receives their values. */
export type DecisionWork = Generator<Promise<unknown>, Decision, unknown>;

/**
 * Decides what a plan does with a request, from its head to the point where it is forwarded. This is the order of all checks: the
 * gateway serves by it, and the candidate and the replay of a log compare by it.
 *
 * It is a generator, because a refusal must be sent before the parser reads the next request of the same packet. An asynchronous
 * function would throw one turn of the microtask queue too late.
 *
 * @throws Refusal, or an error of a step
 */
export function* decide<Caller>(plan: Plan, request: RequestSteps<Caller>): DecisionWork {
  request.readHead(plan);
  const isOptions = request.method === 'OPTIONS';
  if (isOptions && request.isServerOptions()) return 'server-options';
  const { path } = request.readTarget(plan);
  if (isOptions && plan.cors !== undefined && request.isPreflight()) {
    if (plan.router.allowedMethods(path).length === 0) throw new Refusal('route_unknown');
    return 'preflight';
  }
  const route = plan.router.match(request.method, path) ?? refuseUnmatched(plan, path);
  request.setRoute(route);
  const { rateLimits } = route;
  let isBodyRead = false;
  try {
    if (request.isHandshake) request.checkOrigin(route);
    const countedAtMatch = rateLimits && request.applyRateLimits('match', rateLimits);
    if (countedAtMatch !== undefined) yield countedAtMatch;
    if (route.access === 'protected') {
      const auth = route.auth ?? refuseWithoutAuth();
      const authenticated = request.authenticate(auth);
      const caller = authenticated instanceof Promise ? ((yield authenticated) as Caller) : authenticated;
      request.authorize(auth, caller, route.claims);
    }
    const countedByCaller = rateLimits && request.applyRateLimits('authorize', rateLimits);
    if (countedByCaller !== undefined) yield countedByCaller;
    const validated = route.parameters === undefined ? undefined : request.validateParameters(route);
    if (validated !== undefined) yield validated;
    isBodyRead = true;
    const read = route.body === undefined ? undefined : request.readBody(route);
    if (read !== undefined) yield read;
    const countedByBody = rateLimits && request.applyRateLimits('validate', rateLimits);
    if (countedByBody !== undefined) yield countedByBody;
    return route;
  } catch (error) {
    // The refusal of the body does not depend on the limits, so it comes first.
    const read = !isBodyRead && wouldShowLimit(route, error) ? request.readBody(route) : undefined;
    if (read !== undefined) yield read;
    throw error;
  }
}

/**
 * True for the refusal of a rate limit before the body was read, on a route that also limits by the body. The gateway would close
 * the connection because of the unread body, so the client would see which limit it was.
 */
function wouldShowLimit({ body, rateLimits }: Route, error: unknown): boolean {
  const isExceeded = error instanceof Refusal && error.code === 'rate_limit_exceeded';
  return isExceeded && body !== undefined && (rateLimits?.validate.length ?? 0) > 0;
}

/** @throws Refusal `path_ambiguous`, `route_unknown` or `method_not_allowed` */
function refuseUnmatched(plan: Plan, path: string): never {
  if (hasEncodedSlash(path)) throw new Refusal('path_ambiguous', { reason: 'path_encoded_slash' });
  const allowed = plan.router.allowedMethods(path);
  if (allowed.length === 0) throw new Refusal('route_unknown');
  throw new Refusal('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

/** Refuses a request to a protected route without rules for callers. The compiler rejects such a route. @throws Refusal */
export function refuseWithoutAuth(): never {
  throw new Refusal('internal_error', { reason: 'auth_missing' });
}
