import { type Decision, decide } from '../../engine/gateway/decide.ts';
import type { Exchange, ForwardedExchange } from '../../engine/gateway/exchange.ts';
import { isServerOptions, type RequestTarget } from '../../engine/gateway/request/request-head.ts';
import {
  forwardedMessage,
  preflightResponse,
  refusalHeaders,
} from '../../engine/gateway/response/described-response.ts';
import type { Refusal } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ForwardingRoute, Route } from '../../engine/plan/route-definition.ts';
import {
  forwardedOutcome,
  type Outcome,
  ownOutcome,
  refusedOutcome,
  thrownOutcome,
  UnknownFact,
  UPSTREAM_REFUSALS,
} from '../outcome.ts';
import type { CandidateRequest } from './candidate-request.ts';
import type { PlanPair } from './plan-pair.ts';

/** Returns what the active plan did with a request. */
export function servedOutcome(exchange: Exchange): Outcome {
  const { refusal, route, target, forwarding, request, plan } = exchange;
  if (refusal !== undefined && !UPSTREAM_REFUSALS.has(refusal.code))
    return refusedOutcome(refusal, route?.id, describeResponse(plan, request, route));
  if (route === undefined) {
    if (isServerOptions(request)) return serverOptions(plan);
    if (target !== undefined) return preflightOutcome(plan, request, target);
    return { kind: 'unknown', route: undefined, reason: 'client-left' };
  }
  const own = target && exchange.response.hasBegun ? ownOutcome(plan, route, target, request.known.origin) : undefined;
  if (own !== undefined) return own;
  if (forwarding === undefined) return { kind: 'unknown', route: route.id, reason: 'client-left' };
  const forwarded = exchange as ForwardedExchange;
  return forwardedOutcome(forwarded.route, () => forwardedMessage(forwarded, exchange.isHandshake));
}

/** Returns what the candidate would do with a request. Rejects if the candidate fails. */
export async function candidateOutcome(request: CandidateRequest, exchange: Exchange, pair: PlanPair) {
  const plan = pair.candidate;
  try {
    const deciding = decide(plan, request);
    let step = deciding.next();
    while (step.done !== true) step = deciding.next(await withTimeout(step.value));
    return outcomeOf(step.value, request, exchange, pair);
  } catch (error) {
    const { route } = request as Partial<CandidateRequest>;
    return thrownOutcome(error, route?.id, describeResponse(plan, exchange.request, route));
  }
}

function describeResponse(plan: Plan, request: Exchange['request'], route: Route | undefined) {
  return (refusal: Refusal) => JSON.stringify([refusalHeaders(plan, request, refusal, route), refusal.errors]);
}

const serverOptions = ({ server }: Plan): Outcome => ({
  kind: 'responded',
  status: 204,
  headers: server.responseHeaders,
});

/** @throws Refusal or UnknownFact, if the response of a login service decides */
function outcomeOf(decision: Decision, request: CandidateRequest, exchange: Exchange, pair: PlanPair): Outcome {
  if (decision === 'server-options') return serverOptions(pair.candidate);
  if (decision === 'preflight') {
    return preflightOutcome(pair.candidate, exchange.request, request.target);
  }
  const own = ownOutcome(pair.candidate, decision, request.target, exchange.request.known.origin);
  if (own !== undefined) return own;
  checkLogin(decision, request, pair);
  const forwarded = request as CandidateRequest & { readonly route: ForwardingRoute };
  return forwardedOutcome(forwarded.route, () => forwardedMessage(forwarded, request.isHandshake));
}

/**
 * Checks the response of a login service by the candidate. The response itself is not kept, so only the caller is known whose token
 * the active plan found in it.
 *
 * @throws Refusal `role_not_allowed`, or the refusal of the active plan; UnknownFact
 */
function checkLogin(route: Route, request: CandidateRequest, pair: PlanPair): void {
  const { route: active, principal, refusal, forwarding } = request.exchange;
  if (route.login === undefined || route.auth === undefined) return;
  const isComparable =
    active !== undefined && forwarding !== undefined && loginKey(route) === loginKey(active) && pair.areTokensEqual;
  if (!isComparable) throw new UnknownFact('login-response');
  if (refusal?.code === 'login_response_refused') throw refusal;
  if (principal !== undefined) request.authorize(route.auth, principal);
  // Without a response of the service, nothing shows which token it would have had.
  else if (refusal !== undefined) throw new UnknownFact('login-response');
}

/** Returns the entry of the manifest. */
function loginKey({ key }: Route): string {
  return JSON.stringify((JSON.parse(key) as { readonly login?: unknown }).login);
}

function preflightOutcome(plan: Plan, request: Exchange['request'], target: RequestTarget | undefined): Outcome {
  return { kind: 'responded', status: 204, headers: preflightResponse(plan, request, target) };
}

const DECISION_TIMEOUT_MS = 3_000;

/** Waits for a step of the decision. Rejects with `UnknownFact` if it takes too long. */
async function withTimeout(work: Promise<unknown> & { readonly cancel?: () => void }): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      work.cancel?.();
      reject(new UnknownFact('timeout'));
    }, DECISION_TIMEOUT_MS).unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
