import type { RawHeaders } from '../../http1/raw-headers.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { PlannedRequest } from '../request/planned-request.ts';
import { type RequestTarget, upstreamTarget } from '../request/request-head.ts';
import { applyHeaderRules, type ForwardedRequest, forwardRequestHeaders } from '../upstream/proxy-headers.ts';
import { ownHeaders } from './own-response.ts';
import { preflightHeaders, withPlanHeaders } from './plan-headers.ts';
import type { Refusal } from './refusal.ts';

type ClientRequest = PlannedRequest['request'];

/** The request that a plan sends to an upstream, without trace headers: these depend on the trace and not on the plan. */
export function forwardedMessage(
  request: ForwardedRequest & { readonly target: RequestTarget },
  isHandshake: boolean,
): { readonly path: string; readonly headers: readonly string[] } {
  const { upstream } = request.route;
  const forwarded = forwardRequestHeaders(request, undefined);
  const headers = upstream.host === 'client' ? forwarded : ['Host', upstream.host, ...forwarded];
  return {
    path: upstreamTarget(request.route, request.target),
    headers: isHandshake ? [...headers, 'Upgrade', 'websocket'] : headers,
  };
}

/**
 * Describes the response of a route without an upstream: equal for equal responses, apart from the counters of rate limits.
 *
 * @throws Refusal `path_ambiguous`
 */
export function describeOwnResponse(plan: Plan, route: Route, target: RequestTarget, origin?: string): RawHeaders {
  const { ownResponse, responseHeaders: rules } = route;
  if (ownResponse === undefined) return [];
  const own = applyHeaderRules([...ownHeaders(ownResponse, target)], rules);
  const headers = withPlanHeaders(plan, own, { request: { known: { origin } }, route, refusal: undefined });
  return [...headers, 'body', ownResponse.body.toString()];
}

/** Returns what the headers of the response to a refused request owe to a plan, so not the time to wait. */
export function refusalHeaders(
  plan: Plan,
  request: ClientRequest,
  refusal: Refusal,
  route: Route | undefined,
): RawHeaders {
  const own = Object.entries(refusal.headers).filter(([name]) => name !== 'Retry-After');
  return withPlanHeaders(plan, own.flat(), { request, route, refusal });
}

/** Returns the headers of the response to a preflight, by a plan. */
export function preflightResponse(plan: Plan, request: ClientRequest, target: RequestTarget | undefined): RawHeaders {
  const own = preflightHeaders({ plan, request, target });
  return withPlanHeaders(plan, own, { request, route: undefined, refusal: undefined });
}
