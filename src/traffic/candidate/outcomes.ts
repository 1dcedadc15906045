import { type Decision, decide } from '../../engine/gateway/decide.ts';
import type { Exchange, RoutedExchange } from '../../engine/gateway/exchange.ts';
import { isServerOptions, type RequestTarget, upstreamTarget } from '../../engine/gateway/request/request-target.ts';
import { preflightHeaders, withCorsHeaders } from '../../engine/gateway/response/cors.ts';
import { Refusal } from '../../engine/gateway/response/refusal.ts';
import { type ForwardedRequest, forwardRequestHeaders } from '../../engine/gateway/upstream/proxy-headers.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { endpointsOf, type Outcome, UnknownFact } from '../outcome.ts';
import { refusedOutcome, UPSTREAM_REFUSALS } from '../refused-outcome.ts';
import type { CandidateRequest } from './candidate-request.ts';
import { checkLogin } from './check-login.ts';
import type { PlanPair } from './plan-pair.ts';

/** Returns what the active plan did with a request. */
export function servedOutcome(exchange: Exchange): Outcome {
  const { refusal, route, target, forwardedAfterMs, request, plan } = exchange;
  if (refusal !== undefined && !UPSTREAM_REFUSALS.has(refusal.code)) return refusedOutcome(refusal, route?.id);
  if (route === undefined) {
    if (isServerOptions(request)) return SERVER_OPTIONS;
    if (target !== undefined) return preflightOutcome(plan, request, target);
    return { kind: 'unknown', route: undefined, reason: 'client-left' };
  }
  if (forwardedAfterMs === undefined) return { kind: 'unknown', route: route.id, reason: 'client-left' };
  return forwardedOutcome(exchange as RoutedExchange, exchange.handshake !== undefined);
}

/** Returns what the candidate would do with a request. Rejects if the candidate fails. */
export async function candidateOutcome(
  request: CandidateRequest,
  exchange: Exchange,
  pair: PlanPair,
  wait: (work: Promise<unknown>) => Promise<unknown>,
): Promise<Outcome> {
  const plan = pair.candidate;
  try {
    const deciding = decide(plan, request);
    let step = deciding.next();
    while (step.done !== true) step = deciding.next(await wait(step.value));
    return outcomeOf(step.value, request, exchange, pair);
  } catch (error) {
    const route = (request as Partial<CandidateRequest>).route?.id;
    if (error instanceof UnknownFact) return { kind: 'unknown', route, reason: error.reason };
    if (error instanceof Refusal) return refusedOutcome(error, route);
    throw error;
  }
}

const SERVER_OPTIONS: Outcome = { kind: 'responded', status: 204, headers: [] };

/** @throws Refusal or UnknownFact, if the response of a login service decides */
function outcomeOf(decision: Decision, request: CandidateRequest, exchange: Exchange, pair: PlanPair): Outcome {
  if (decision === 'server-options') return SERVER_OPTIONS;
  if (decision === 'preflight') {
    return preflightOutcome(pair.candidate, exchange.request, request.target);
  }
  checkLogin(decision, exchange, pair);
  return forwardedOutcome(request as CandidateRequest & Pick<RoutedExchange, 'head' | 'target'>, request.isHandshake);
}

function preflightOutcome(plan: Plan, request: Exchange['request'], target: RequestTarget | undefined): Outcome {
  const headers = preflightHeaders({ plan, request, target });
  const { cors } = plan;
  const permissions = cors === undefined ? headers : withCorsHeaders(cors, request.headers.origin, headers);
  return { kind: 'responded', status: 204, headers: permissions };
}

function forwardedOutcome(request: ForwardedRequest & Pick<RoutedExchange, 'target'>, isHandshake: boolean): Outcome {
  const { route, target } = request;
  return {
    kind: 'forwarded',
    route: route.id,
    upstream: route.upstream.id,
    endpoints: endpointsOf(route.upstream),
    // Trace headers depend on the trace of the exchange and not on the plan.
    message: () => {
      const headers = forwardRequestHeaders(request, undefined);
      return {
        path: upstreamTarget(route, target),
        headers: isHandshake ? [...headers, 'Upgrade', 'websocket'] : headers,
      };
    },
  };
}
