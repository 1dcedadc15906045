import type { Refusal } from '../../engine/gateway/response/refusal.ts';
import { type Auth, type RoleRule, ruleOf } from '../../engine/tokens/verifier.ts';
import type { CheckResult } from './check-content.ts';
import { createRefusal } from './logged-facts.ts';

/**
 * Returns what a plan does with the token of a logged request; `undefined` if the log does not determine it.
 *
 * @param result of the plan that wrote the log, whose rules are `loggedAuth`
 * @param issuer the method that accepted the token
 */
export function checkToken(auth: Auth, loggedAuth: Auth, result: 'passed' | Refusal, issuer: string | undefined) {
  if (loggedAuth.tokensKey === auth.tokensKey) return result;
  const { issuers: before, verifier } = loggedAuth;
  const { issuers: after } = auth;
  // Equal methods choose and verify alike. Only the accepted ones may differ.
  if (before === undefined || after === undefined || verifier.key !== auth.verifier.key) return undefined;
  if (result === 'passed') {
    if (issuer === undefined) return undefined;
    return after.has(issuer) ? result : createRefusal('token_invalid', undefined, { reason: 'issuer_wrong' });
  }
  // No method is added that could accept the token, and none removed that refused it.
  const isSame = result.reason === 'issuer_wrong' ? after.isSubsetOf(before) : before.isSubsetOf(after);
  return isSame ? result : undefined;
}

/** The facts about the roles of a verified caller. */
export interface LoggedCaller {
  /** The method that accepted the token; `undefined` if there is only one, or the log does not have it. */
  readonly issuer: string | undefined;
  /** `undefined` if the log does not have them. */
  readonly roles: readonly string[] | undefined;
  /** The rule of the logged route, and its result; `undefined` if it was not applied. */
  readonly applied: { readonly rule: RoleRule; readonly isAllowed: boolean } | undefined;
}

/** Applies a role rule to a logged caller. `loggedAuth` has the rules of the manifest that wrote the log. */
export function checkRole(auth: Auth, caller: LoggedCaller, loggedAuth: Auth | undefined): CheckResult {
  const { roles, issuer } = caller;
  const role = ruleOf(auth.role, issuer);
  const loggedRole = loggedAuth && ruleOf(loggedAuth.role, issuer);
  const rule = caller.applied && ruleOf(caller.applied.rule, issuer);
  const applied = caller.applied && rule && { rule, isAllowed: caller.applied.isAllowed };
  // The route allows no role of this issuer.
  if (role === undefined) return 'invalid';
  if (role.isAny) return 'valid';
  if (loggedRole === undefined || claimOf(role) !== claimOf(loggedRole)) {
    // The log has only the result.
    if (applied?.rule.key !== role.key) return 'role';
    return applied.isAllowed ? 'valid' : 'invalid';
  }
  // A list is no text, and a text is no list. One word is a single role too.
  const isOther = isList(role) !== isList(loggedRole);
  if (formOf(role) !== formOf(loggedRole))
    return isOther && roles !== undefined && roles.length > 0 ? 'invalid' : 'role';
  const fromRoles = roles === undefined ? 'not-logged' : checkRoles(role, roles, loggedRole);
  if (fromRoles === 'valid' || fromRoles === 'invalid' || applied === undefined) return fromRoles;
  const { isAllowed } = applied;
  const isWider = applied.rule.required.every((name) => role.required.includes(name));
  const isNarrower = role.required.every((name) => applied.rule.required.includes(name));
  if (isAllowed && isWider) return 'valid';
  return !isAllowed && isNarrower ? 'invalid' : fromRoles;
}

/** @param names the roles of the caller that `loggedRole` has, as the log writes them */
function checkRoles(role: RoleRule, names: readonly string[], loggedRole: RoleRule): CheckResult {
  const roles = new Set<string>();
  for (const name of names) {
    const found = loggedRole.required.filter((_role, index) => loggedRole.redactedRoles[index] === name);
    // Two roles from one variable of the environment look alike in the log.
    if (found.length !== 1) return 'role';
    roles.add(found[0] ?? '');
  }
  if (role.required.some((name) => roles.has(name))) return 'valid';
  const isListed = role.required.every((name) => loggedRole.required.includes(name));
  // A claim that is one role has only the logged one.
  const isOnlyRole = formOf(loggedRole) === false && roles.size > 0;
  return isListed || isOnlyRole ? 'invalid' : 'role';
}

function claimOf({ key }: RoleRule): unknown {
  return JSON.parse(key)[0];
}

/** Returns true for a list of roles, `words` for a text of roles, and false for one role. */
function formOf({ key }: RoleRule): unknown {
  return JSON.parse(key)[1];
}

function isList(role: RoleRule): boolean {
  return formOf(role) === true;
}
