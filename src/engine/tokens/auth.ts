import { hash } from 'node:crypto';
import { compilePointer } from '../json-pointer.ts';
import type { Auth as AuthEntry, Role as RoleEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { CachingVerifier } from './caching-verifier.ts';
import type { TokensContext } from './identity-endpoint.ts';
import { compileJwt } from './jwt.ts';
import { compileIntrospection, compileUserinfo } from './remote-tokens.ts';
import type { Auth, Principal, RoleRule, Verifier } from './verifier.ts';

const DEFAULT_REALM = 'signing-gateway';

/** @param previous the active verifier, which is reused if its definition did not change */
export function compileAuth(
  entry: AuthEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): Auth | undefined {
  const verifier = compileTokens(entry.tokens, context, previous);
  if (verifier === undefined) return undefined;
  const { secrets, findings } = context;
  if (entry.role !== ANY_ROLE) checkRoleEntry(entry.role, findings);
  // Clients never see a value from the environment.
  const realm = secrets.isSecret(['auth', 'realm']) ? DEFAULT_REALM : entry.realm;
  return Object.freeze({
    verifier,
    role: compileRole(entry.role, secrets),
    challengePrefix: `Bearer realm="${realm}"`,
  });
}

/** In place of a list of roles: a valid token is enough. */
export const ANY_ROLE = 'any';
/** True for a name in a list that readers would take for `any`. */
const isNoRole = (role: string) => role === '*' || role === ANY_ROLE;

/** Returns the roles that `auth.role` or `roles` of a route allows. */
export function rolesOfEntry(entry: AuthEntry['role'] | NonNullable<RouteEntry['roles']>): readonly string[] {
  return typeof entry === 'string' ? [entry] : Array.isArray(entry) ? entry : entry.allow;
}

function checkRoleEntry({ allow, array, format }: RoleEntry, findings: Finding[]): void {
  const path = ['auth', 'role'];
  const report = (isWrong: (role: string) => boolean, message: string) => {
    const index = allow.findIndex(isWrong);
    if (index !== -1) findings.push(errorAt([...path, 'allow', index], 'role-unknown', message));
  };
  report(isNoRole, 'this is no role; write "role: any" if a valid token is enough, or the names of the roles');
  if (format !== 'words') return;
  report((role) => role.includes(' '), 'no word has a blank; write a role for each word');
  if (array)
    findings.push(errorAtKey([...path, 'array'], 'role-unknown', 'a text of words is no list; remove "array"'));
}

/** Returns the values of a claim that may be roles. A claim in another form has none. */
export function rolesIn(claim: unknown, { array, format }: Pick<RoleEntry, 'array' | 'format'>): readonly unknown[] {
  if (format === 'words') return typeof claim === 'string' ? claim.split(' ') : [];
  if (array) return Array.isArray(claim) ? claim : [];
  return [claim];
}

/**
 * Compiles the verifier of a manifest's tokens; `undefined` after an error.
 *
 * @param previous the active verifier, which is reused with its cache if its definition did not change
 */
function compileTokens(
  tokens: AuthEntry['tokens'],
  context: TokensContext,
  previous: Verifier | undefined,
): Verifier | undefined {
  const { jwt, introspection, userinfo } = tokens;
  const entry = jwt ?? introspection ?? userinfo;
  const method =
    (jwt && compileJwt(jwt, context)) ??
    (introspection && compileIntrospection(introspection, context)) ??
    (userinfo && compileUserinfo(userinfo, context));
  if (entry === undefined || method === undefined) return undefined;
  const { cache, clockTolerance } = entry;
  // A hash, since the definition contains secrets.
  const key = hash('sha256', JSON.stringify([tokens, method.dependencies]));
  if (previous?.key === key) return previous;
  const { networkVerifier } = context;
  const verifier = (networkVerifier && method.delegateTo?.(networkVerifier(key))) ?? method.verifier;
  return new CachingVerifier(key, verifier, {
    cache,
    clockToleranceMs: durationMs(clockTolerance),
    staleIfErrorMs: method.staleIfErrorMs,
  });
}

export interface RouteAuthContext {
  /** `undefined` if there is none, or it has errors. */
  readonly auth: Auth | undefined;
  /** The entry of the manifest; `undefined` if it violates the schema. */
  readonly authEntry: AuthEntry | undefined;
  readonly secrets: Secrets;
}

/** Compiles how a route authenticates and authorizes callers: by `auth`, or by fewer of its roles. */
export function compileRouteAuth(
  { access, login, roles }: RouteEntry,
  index: number,
  { auth, authEntry, secrets }: RouteAuthContext,
  findings: Finding[],
): Auth | undefined {
  const isGuarded = access === 'protected' || login !== undefined;
  if (roles !== undefined && !isGuarded) {
    const message = 'a public route requires no role; write access: protected, or remove "roles"';
    findings.push(errorAtKey(['routes', index, 'roles'], 'roles-public', message));
  }
  if (!isGuarded || authEntry === undefined) return undefined;
  const allow = rolesOfEntry(authEntry.role);
  for (const [at, role] of (roles === ANY_ROLE ? [] : (roles ?? [])).entries()) {
    if (allow.includes(role) && !isNoRole(role)) continue;
    const message = isNoRole(role)
      ? 'this is no role; write "roles: any" if a valid token is enough, or the names of the roles'
      : `"${role}" is not a role that auth.role allows, and a route cannot add roles${suggestion(role, allow)}`;
    const related = { path: ['auth', 'role', 'allow'], message: 'the allowed roles' };
    findings.push({ ...errorAt(['routes', index, 'roles', at], 'role-unknown', message), related });
  }
  if (auth === undefined || roles === undefined) return auth;
  const role = compileRole(authEntry.role, secrets, rolesOfEntry(roles), ['routes', index, 'roles']);
  return Object.freeze({ ...auth, role });
}

/**
 * @param entry the rule of `auth.role`
 * @param required the roles of `allow` that the route accepts, at `path`
 */
function compileRole(
  entry: AuthEntry['role'],
  { isSecret, redactValue }: Secrets,
  required: readonly string[] = rolesOfEntry(entry),
  path: Path = ['auth', 'role', 'allow'],
): RoleRule {
  if (entry === ANY_ROLE || required[0] === ANY_ROLE) return ANY_RULE;
  const roleAt = compilePointer(entry.claim);
  const names = new Set<unknown>(required);
  const isRequired = (role: unknown) => names.has(role);
  const isSingle = entry.array !== true && entry.format !== 'words';
  const allows = ({ claims }: Principal) => {
    const claim = roleAt(claims);
    return isSingle ? isRequired(claim) : rolesIn(claim, entry).some(isRequired);
  };
  const redactedRoles = redactValue(required, path);
  const heldBy = ({ claims }: Principal) => {
    const held = new Set(rolesIn(roleAt(claims), entry));
    return redactedRoles.filter((_role, index) => held.has(required[index]));
  };
  const form = entry.format === 'words' ? entry.format : entry.array === true;
  const key = JSON.stringify([entry.claim, form, required]);
  const message = isSecret(['auth', 'role', 'message']) ? undefined : entry.message;
  return Object.freeze({ key, allows, heldBy, required, redactedRoles, message, isAny: false });
}

const ANY_RULE: RoleRule = Object.freeze({
  key: '["any"]',
  allows: () => true,
  heldBy: () => undefined,
  required: [ANY_ROLE],
  redactedRoles: [ANY_ROLE],
  message: undefined,
  isAny: true,
});
