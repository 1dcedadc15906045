import type { Exchange } from '../../engine/gateway/exchange.ts';
import { authorize } from '../../engine/gateway/request/authorize.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { UnknownFact } from '../outcome.ts';
import type { PlanPair } from './plan-pair.ts';

/**
 * Checks the response of a login service by the candidate. The response itself is not kept, so only the caller is known whose token
 * the active plan found in it.
 *
 * @throws Refusal `role_not_allowed`, or the refusal of the active plan; UnknownFact
 */
export function checkLogin(
  route: Route,
  { route: active, principal, refusal, forwardedAfterMs }: Exchange,
  pair: PlanPair,
): void {
  if (route.login === undefined || route.auth === undefined) return;
  const isComparable =
    active !== undefined &&
    forwardedAfterMs !== undefined &&
    loginKey(route) === loginKey(active) &&
    pair.areTokensEqual;
  if (!isComparable) throw new UnknownFact('login-response');
  if (refusal?.code === 'login_response_refused') throw refusal;
  if (principal !== undefined) authorize(route.auth, principal);
  // Without a response of the service, nothing shows which token it would have had.
  else if (refusal !== undefined) throw new UnknownFact('login-response');
}

/** Returns the entry of the manifest. */
function loginKey({ key }: Route): string {
  return JSON.stringify((JSON.parse(key) as { readonly login?: unknown }).login);
}
