import type { MutationContext, TestedRoute } from '../../prove/mutation/mutant.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';

/** The role of the caller of a logged request. */
export interface ObservedRole {
  /** `undefined` if the result does not depend on a role. */
  readonly role: string | undefined;
  /** False if the log does not have it, so that it is any role with the same result. */
  readonly isLogged: boolean;
}

const NO_ROLE: ObservedRole = { role: undefined, isLogged: true };

/** The gateway refuses these requests before it knows the caller. */
const BEFORE_CALLER: readonly (string | undefined)[] = ['origin_not_allowed', 'token_missing', 'token_invalid'];

/**
 * Returns the role for a request to a route. Of several roles of one caller it is the one that decides. It is never a text of the
 * log, but a role of the manifest, or the other role of the context.
 */
export function observedRole(
  request: LoggedRequest,
  { route }: TestedRoute,
  { plan, otherRole }: Pick<MutationContext, 'plan' | 'otherRole'>,
): ObservedRole {
  const { refusal, roles } = request;
  if (route.auth === undefined || plan.auth === undefined || BEFORE_CALLER.includes(refusal)) return NO_ROLE;
  const { required } = route.auth.role;
  const isRefused = refusal === 'role_not_allowed';
  if (roles === undefined) {
    if (refusal === 'keys_unavailable') return NO_ROLE;
    // A login without a token in its response has no role, and neither has a caller whose token was not verified.
    if (route.access === 'public' && !isRefused && !isLogin(request)) return NO_ROLE;
    return { role: isRefused ? otherRole : required[0], isLogged: false };
  }
  const { required: all, redactedRoles } = plan.auth.role;
  const logged = all.filter((_role, index) => roles.includes(redactedRoles[index] ?? ''));
  const deciding = logged.find((role) => required.includes(role) !== isRefused) ?? logged[0];
  return { role: deciding ?? otherRole, isLogged: true };
}

/** True if the response of a login route had a verified token. */
function isLogin({ refusal, status = 0, subject }: LoggedRequest): boolean {
  return refusal === undefined && subject !== undefined && status >= 200 && status < 300;
}
