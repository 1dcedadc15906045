import type { RequestTarget } from '../engine/gateway/request/request-head.ts';
import { describeOwnResponse } from '../engine/gateway/response/described-response.ts';
import { Refusal, type RefusalCode } from '../engine/gateway/response/refusal.ts';
import type { Plan } from '../engine/plan/plan.ts';
import type { ForwardingRoute, Route } from '../engine/plan/route-definition.ts';
import { limitDefinition } from '../engine/rate-limits/rate-limit.ts';

/** Why the outcome of a request by a plan is not known. A test compares `docs/candidate.md` with this table. */
export const UNKNOWN_REASONS = {
  head: 'the headers or the request target were refused, and the plans check them in different ways',
  token: 'the token was not verified by the rules of this plan',
  role: 'the log does not have all roles of the caller',
  claims: 'the claims of the caller are not known, and the plans forward different ones',
  origin: 'the origin of the page is not known, and the plans treat it in different ways',
  path: 'the log has surrogates in place of parts of the path',
  query: 'the values of the query are not known',
  headers: 'the headers of the request are not known',
  'media-type': 'the media type or the content encoding of the body is not known',
  'body-size': 'the length of the body is not known',
  body: 'the body was not read, not completely, or not kept',
  'login-response': 'the response of the login service was not checked by the rules of this plan',
  'rate-limit': 'the counter of a rate limit is not known',
  'no-decision': 'the gateway could not decide: it was busy, failed, or could not fetch keys',
  'client-left': 'the client disconnected before the decision',
  'not-reproduced': 'the manifest of --from does not reproduce the logged outcome',
  timeout: 'the candidate did not decide in time',
  'not-logged': 'the log lacks what the decision needs; set log.replay',
} as const satisfies Record<string, string>;

export type UnknownReason = keyof typeof UNKNOWN_REASONS;

/** A fact about a request is not known. The steps of a decision throw it. It is not an `Error`, as `Refusal` is not. */
export class UnknownFact {
  readonly reason: UnknownReason;

  constructor(reason: UnknownReason) {
    this.reason = reason;
  }
}

/** The message that an upstream receives. Its body is that of the request. */
interface UpstreamMessage {
  /** Path and query. */
  readonly path: string;
  /** Without those that differ for each request, such as the request id. */
  readonly headers: readonly string[];
}

/** The outcome of a request by a plan. */
export type Outcome =
  | {
      readonly kind: 'forwarded';
      readonly route: string;
      readonly upstream: string;
      /** Equal for upstreams with the same endpoints. */
      readonly endpoints: string;
      readonly message: () => UpstreamMessage;
    }
  | {
      readonly kind: 'refused';
      readonly route: string | undefined;
      readonly code: RefusalCode;
      readonly status: number;
      readonly detail: string;
      readonly reason: string;
      readonly limit: string | undefined;
      /** Returns a text that is equal for responses with the same headers and violations; `undefined` for a log, which has none. */
      readonly response: (() => string) | undefined;
    }
  | {
      /** The gateway responds itself: by a route without an upstream, to `OPTIONS *` or to a preflight. */
      readonly kind: 'responded';
      readonly route?: string;
      readonly status: number;
      readonly headers: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly route: string | undefined; readonly reason: UnknownReason };

/** Returns a text that is equal for upstreams with the same endpoints. It may have values of the environment: never print it. */
export function endpointsOf({ endpoints }: ForwardingRoute['upstream']): string {
  return JSON.stringify(endpoints.map(({ url }) => url.href).sort());
}

/** Returns a text that is equal for routes with the same rules for tokens, roles and rates. */
export function callerRulesKey({ auth, claims, rateLimits }: Route): string {
  const rules = auth && [auth.tokensKey, auth.role.key, auth.role.messageFor(undefined), auth.challengePrefix];
  const tokens = [claims?.key, rules];
  return JSON.stringify([tokens, rateLimits && Object.values(rateLimits).map((limits) => limits.map(limitDefinition))]);
}

/** Returns the outcome of a request that a plan forwards by a route. */
export function forwardedOutcome({ id, upstream }: ForwardingRoute, message: () => UpstreamMessage): Outcome {
  return { kind: 'forwarded', route: id, upstream: upstream.id, endpoints: endpointsOf(upstream), message };
}

/** Returns the outcome of a request to a route without an upstream; `undefined` for another route. @throws Refusal */
export function ownOutcome(plan: Plan, route: Route, target: RequestTarget, origin?: string): Outcome | undefined {
  const { id, ownResponse } = route;
  if (ownResponse === undefined) return undefined;
  const headers = describeOwnResponse(plan, route, target, origin);
  return { kind: 'responded', route: id, status: ownResponse.status, headers };
}

/** Refusals that depend on the state of the gateway or of an identity service, and not on the plan. */
export const UNDECIDED_REFUSALS: ReadonlySet<RefusalCode> = new Set([
  'gateway_busy',
  'internal_error',
  'keys_unavailable',
  'rate_limit_unavailable',
  'request_timeout',
]);

/** Refusals of an exchange that the plan has forwarded. */
export const UPSTREAM_REFUSALS: ReadonlySet<RefusalCode> = new Set([
  'upstream_busy',
  'upstream_error',
  'upstream_timeout',
  'upstream_unavailable',
  'upstream_unreachable',
]);

/** Returns a text that is equal for equal responses to a refused request. */
type DescribeResponse = (refusal: Refusal) => string;

/** Returns the outcome of a request that a plan refuses. */
export function refusedOutcome(refusal: Refusal, route: string | undefined, describe?: DescribeResponse): Outcome {
  const { code, status, detail, reason, limit } = refusal;
  if (UNDECIDED_REFUSALS.has(code)) return { kind: 'unknown', route, reason: 'no-decision' };
  if (reason === 'client_closed') return { kind: 'unknown', route, reason: 'client-left' };
  const response = describe && (() => describe(refusal));
  return { kind: 'refused', route, code, status, detail, reason, limit, response };
}

/** Returns the outcome of a decision that threw. Throws what is neither a refusal nor a fact that is not known. */
export function thrownOutcome(error: unknown, route: string | undefined, describe: DescribeResponse): Outcome {
  if (error instanceof UnknownFact) return { kind: 'unknown', route, reason: error.reason };
  if (error instanceof Refusal) return refusedOutcome(error, route, describe);
  throw error;
}

/** An outcome as reports show it. It has no value of a header, a query, a body or the environment. */
export interface OutcomeReport {
  readonly outcome: 'forwarded' | 'refused' | 'responded';
  readonly route: string | null;
  readonly upstream: string | null;
  /** The status of the gateway's own response. */
  readonly status: number | null;
  readonly refusal: RefusalCode | null;
  readonly reason: string | null;
}

export type KnownOutcome = Exclude<Outcome, { readonly kind: 'unknown' }>;

export function reportOutcome(outcome: KnownOutcome): OutcomeReport {
  const { kind } = outcome;
  const common = { outcome: kind, route: null, upstream: null, status: null, refusal: null, reason: null };
  if (outcome.kind === 'forwarded') return { ...common, route: outcome.route, upstream: outcome.upstream };
  const { route = null } = outcome;
  if (outcome.kind === 'responded') return { ...common, route, status: outcome.status };
  const { status, code, reason, limit } = outcome;
  return { ...common, route, status, refusal: code, reason: limit === undefined ? reason : `${reason} (${limit})` };
}
