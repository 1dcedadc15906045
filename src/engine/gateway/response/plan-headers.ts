import { type RawHeaders, withMissing, withoutHeaders } from '../../http1/raw-headers.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import { type AppliedLimit, rateLimitFields } from '../../rate-limits/rate-limiter.ts';
import { withCorsHeaders } from './cors.ts';

/** Whom a response is for. */
interface ResponseFacts {
  readonly request: { readonly known: { readonly origin: string | undefined } };
  readonly route: Route | undefined;
  readonly refusal: unknown;
  /** The rate limits that have counted the request. */
  readonly appliedLimits?: readonly AppliedLimit[] | undefined;
}

/** Returns the headers of a response with those that a plan adds to every one: of rate limits, of CORS and of the server. */
export function withPlanHeaders(plan: Plan, headers: RawHeaders, facts: ResponseFacts): RawHeaders {
  const { cors, server } = plan;
  const { request, route, refusal, appliedLimits } = facts;
  let all = headers;
  if (server.hasRateLimitHeaders) {
    const fields = rateLimitFields(route?.rateLimits, refusal === undefined ? appliedLimits : undefined);
    all = [...all, ...fields];
  }
  if (cors !== undefined) all = withCorsHeaders(cors, request.known.origin, all);
  if (server.responseHeaders.length === 0) return all;
  // A route that removes a header of the upstream does not get it from the server.
  const rules = refusal === undefined ? route?.responseHeaders : undefined;
  const common = server.responseHeaders;
  return withMissing(all, rules === undefined ? common : withoutHeaders(common, rules.drops));
}
