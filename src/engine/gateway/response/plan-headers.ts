import type { ClientRequest } from '../../http1/client-request.ts';
import { getAllHeaders, type RawHeaders, setHeader, withMissing, withoutHeaders } from '../../http1/raw-headers.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import { type AppliedLimit, rateLimitFields } from '../../rate-limits/rate-limiter.ts';
import type { Cors } from '../../settings/cors.ts';
import type { RequestHead, RequestTarget } from '../request/request-head.ts';

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

/**
 * True for a preflight, with which a browser checks the permissions of a page from another origin (Fetch standard, CORS
 * protocol). A preflight has no credentials and no body.
 */
export function isPreflight({ request, head }: PreflightFacts): boolean {
  return (
    request.method === 'OPTIONS' &&
    head?.body === undefined &&
    request.known.origin !== undefined &&
    request.header('access-control-request-method') !== undefined
  );
}

interface PreflightFacts {
  readonly request: ClientRequest;
  readonly head: RequestHead | undefined;
}

interface Preflight {
  readonly plan: Plan;
  readonly request: ClientRequest;
  readonly target: RequestTarget | undefined;
}

/** Returns the permissions in the response to a preflight. An origin that is not allowed has none. */
export function preflightHeaders({ plan, request, target }: Preflight): RawHeaders {
  const { cors, router } = plan;
  if (cors === undefined || target === undefined || cors.headersFor(request.known.origin).length === 0) return [];
  const methods = cors.methods ?? router.allowedMethods(target.path);
  return ['Access-Control-Allow-Methods', methods.join(', '), ...cors.preflightHeaders];
}

/** Returns the headers with the CORS headers for pages of this origin. */
function withCorsHeaders(cors: Cors, origin: string | undefined, headers: RawHeaders): RawHeaders {
  return [...(cors.isOriginDependent ? withVaryOrigin(headers) : headers), ...cors.headersFor(origin)];
}

/** Adds `Origin` to `Vary` (RFC 9110 section 12.5.5). */
function withVaryOrigin(headers: RawHeaders): RawHeaders {
  const values = getAllHeaders(headers, 'vary');
  if (values.some((value) => VARIES_BY_ORIGIN.test(value))) return headers;
  const [first = ''] = values;
  return setHeader(headers, 'Vary', first === '' ? 'Origin' : `${first}, Origin`);
}

const VARIES_BY_ORIGIN = /(?:^|,)[\t ]*(?:\*|origin)[\t ]*(?:,|$)/i;
