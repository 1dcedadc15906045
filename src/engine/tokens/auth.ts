import { hash } from 'node:crypto';
import { compilePointer } from '../json-pointer.ts';
import type { Auth as AuthEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { CachingVerifier } from './caching-verifier.ts';
import type { TokensContext } from './identity-endpoint.ts';
import { compileJwt } from './jwt.ts';
import { compileIntrospection, compileUserinfo } from './remote-tokens.ts';
import { SelectingVerifier } from './selecting-verifier.ts';
import {
  ANY_ROLE,
  acceptedEntries,
  checkTokenEntries,
  guardEntries,
  issuersOf,
  roleEntries,
  rolesIn,
  rolesOfEntry,
  type TokenEntry,
  tokenEntries,
} from './token-entries.ts';
import type { Auth, MethodVerifier, Permission, Principal, RoleRule, Verifier } from './verifier.ts';

const DEFAULT_REALM = 'signing-gateway';

/** @param previous the active verifier, whose methods are reused if their definitions did not change */
export function compileAuth(
  entry: AuthEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): Auth | undefined {
  const { secrets, findings } = context;
  const entries = tokenEntries(entry);
  checkTokenEntries(entry, entries, findings);
  const verifier = compileTokens(entries, context, previous);
  checkRoleEntry(entry.role, ['auth', 'role'], findings);
  for (const { role, rolePath } of roleEntries(entry))
    if (role !== entry.role) checkRoleEntry(role, rolePath, findings);
  if (verifier === undefined) return undefined;
  // Clients never see a value from the environment.
  const realm = secrets.isSecret(['auth', 'realm']) ? DEFAULT_REALM : entry.realm;
  return Object.freeze({
    verifier,
    issuers: undefined,
    tokensKey: verifier.key,
    role: compileRoles(entries, entries, secrets),
    challengePrefix: `Bearer realm="${realm}"`,
  });
}

/** True for a name in a list that readers would take for `any`. */
const isNoRole = (role: string) => role === '*' || role === ANY_ROLE;

function checkRoleEntry(entry: AuthEntry['role'], path: Path, findings: Finding[]): void {
  if (entry === ANY_ROLE) return;
  const { allow, array, format } = entry;
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

/** Compiles the verifier of a manifest's tokens; `undefined` after an error. */
function compileTokens(
  entries: readonly TokenEntry[],
  context: TokensContext,
  previous: Verifier | undefined,
): Verifier | undefined {
  const methods = entries.map((entry) => compileMethod(entry, context, previous));
  if (!methods.every((method) => method !== undefined)) return undefined;
  return methods.length > 1 ? new SelectingVerifier(entries, methods) : methods[0];
}

function compileMethod(
  method: TokenEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): MethodVerifier | undefined {
  const { kind, entry, path, issuer } = method;
  const compiled =
    kind === 'jwt'
      ? compileJwt(entry, path, context)
      : kind === 'introspection'
        ? compileIntrospection(entry, path, context)
        : compileUserinfo(entry, path, context);
  if (compiled === undefined) return undefined;
  // A hash, since the definition contains secrets.
  const key = hash('sha256', JSON.stringify([{ [kind]: entry }, compiled.dependencies, issuer]));
  const same = previous?.methods.find((other) => other.key === key);
  if (same !== undefined) return same;
  const { networkVerifier } = context;
  const verifier = (networkVerifier && compiled.delegateTo?.(networkVerifier(key))) ?? compiled.verifier;
  return new CachingVerifier(
    key,
    verifier,
    {
      cache: entry.cache,
      clockToleranceMs: durationMs(entry.clockTolerance),
      staleIfErrorMs: compiled.staleIfErrorMs,
    },
    issuer,
  );
}

export interface RouteAuthContext {
  /** `undefined` if there is none, or it has errors. */
  readonly auth: Auth | undefined;
  /** The entry of the manifest; `undefined` if it violates the schema. */
  readonly authEntry: AuthEntry | undefined;
  readonly secrets: Secrets;
}

/** Compiles how a route authenticates and authorizes callers: by the first method of `auth`, or by other ones, or by fewer roles. */
export function compileRouteAuth(
  route: RouteEntry,
  index: number,
  { auth, authEntry, secrets }: RouteAuthContext,
  findings: Finding[],
): Auth | undefined {
  const { access, login, roles, issuers } = route;
  const path = ['routes', index];
  const isGuarded = access === 'protected' || login !== undefined;
  if (roles !== undefined && !isGuarded) {
    const message = 'a public route requires no role; write access: protected, or remove "roles"';
    findings.push(errorAtKey([...path, 'roles'], 'roles-public', message));
  }
  if (issuers !== undefined && access === 'public') {
    const message = 'a public route requires no token of an issuer; write access: protected, or remove "issuers"';
    findings.push(errorAtKey([...path, 'issuers'], 'roles-public', message));
  }
  if (!isGuarded || authEntry === undefined) return undefined;
  const entries = tokenEntries(authEntry);
  for (const [at, name] of (issuers ?? []).entries()) checkIssuer(name, [...path, 'issuers', at], entries, findings);
  if (login?.issuer !== undefined) checkIssuer(login.issuer, [...path, 'login', 'issuer'], entries, findings);
  const accepted = access === 'public' ? [] : acceptedEntries(entries, issuers);
  const used = guardEntries(entries, route);
  const allow = [...new Set(used.flatMap((method) => method.allow))];
  const listed = roles === undefined || roles === ANY_ROLE ? [] : roles;
  const names = allow.filter((name) => name !== ANY_ROLE);
  for (const [at, role] of listed.entries()) {
    if (allow.includes(role) && !isNoRole(role)) continue;
    const message = isNoRole(role)
      ? 'this is no role; write "roles: any" if a valid token is enough, or the names of the roles'
      : `"${role}" is not a role that auth.role allows, and a route cannot add roles${suggestion(role, names) || '; write "roles: any"'}`;
    const related = { path: [...(used[0]?.rolePath ?? ['auth', 'role']), 'allow'], message: 'the allowed roles' };
    findings.push({ ...errorAt([...path, 'roles', at], 'role-unknown', message), related });
  }
  const idle = used.find((method) => !method.allow.some((name) => listed.includes(name)));
  if (idle !== undefined && used.length > 1 && listed.length > 0) {
    const message = `no role here is one that the method "${idle.name}" allows; add one, or remove the method from "issuers"`;
    findings.push(errorAtKey([...path, 'roles'], 'role-unknown', message));
  }
  if (auth === undefined || (roles === undefined && entries.length < 2)) return auth;
  // Other tokens in the response of a login need an allowed role too.
  const role = compileRoles(login === undefined ? accepted : entries, used, secrets, roles && rolesOfEntry(roles), [
    ...path,
    'roles',
  ]);
  return Object.freeze({
    ...auth,
    issuers: issuersOf(accepted),
    tokensKey: tokensKeyOf(auth, entries, accepted),
    role,
  });
}

/** The other methods determine the tokens of introspection and userinfo, and only those. */
function tokensKeyOf({ verifier }: Auth, entries: readonly TokenEntry[], accepted: readonly TokenEntry[]): string {
  const keys = accepted.map((entry) => verifier.methods[entries.indexOf(entry)]?.key);
  const all = accepted.every(({ kind }) => kind === 'jwt') ? [] : [verifier.key];
  return [...new Set([...all, ...keys])].join(' ');
}

function checkIssuer(issuer: string, path: Path, entries: readonly TokenEntry[], findings: Finding[]): void {
  const names = entries.flatMap(({ name }) => name ?? []);
  if (names.includes(issuer)) return;
  const near = suggestion(issuer, names) || '; write auth.tokens as a list of methods with names';
  findings.push(errorAt(path, 'issuer-unknown', `no method of auth.tokens has the name "${issuer}"${near}`));
}

/**
 * Compiles the rule for the roles of callers.
 *
 * @param entries the methods whose callers it can allow
 * @param used the methods whose roles it lists
 * @param names the roles of the route, at `path`; `undefined` for those of each method
 */
function compileRoles(
  entries: readonly TokenEntry[],
  used: readonly TokenEntry[],
  secrets: Secrets,
  names?: readonly string[],
  path?: Path,
): RoleRule {
  const rules = new Map(entries.map((entry) => [entry.issuer, compileRole(entry, secrets, names, path)]));
  const single = rules.get(undefined);
  if (single !== undefined) return single;
  const listed = [...rules].filter(([issuer]) => used.some((entry) => entry.issuer === issuer));
  const texts = new Map(
    listed.flatMap(([, rule]) => rule.required.map((role, index) => [role, rule.redactedRoles[index] ?? ''])),
  );
  return Object.freeze({
    key: JSON.stringify([[...rules].map(([issuer, { key, messageFor }]) => [issuer, key, messageFor(issuer)])]),
    rules,
    // A caller of another issuer has no rule, and so no allowed role.
    allows: (principal: Principal) => rules.get(principal.issuer)?.allows(principal) === true,
    heldBy: (principal: Principal) => rules.get(principal.issuer)?.heldBy(principal),
    isAny: listed.every(([, { isAny }]) => isAny),
    required: [...texts.keys()],
    redactedRoles: [...texts.values()],
    permissions: listed.flatMap(([issuer, { required }]) => required.map((role) => [issuer, role] as const)),
    permits: ([issuer, role]: Permission) =>
      listed.some(([name, rule]) => name === issuer && rule.permits([undefined, role])),
    messageFor: (issuer: Principal['issuer']) => rules.get(issuer)?.messageFor(issuer),
  });
}

/** @param names the roles of which it requires one, at `path`; those that the method does not allow have no effect */
function compileRole(
  { role: entry, rolePath, allow }: TokenEntry,
  { isSecret, redactValue }: Secrets,
  names: readonly string[] = allow,
  path: Path = [...rolePath, 'allow'],
): RoleRule {
  if (entry === ANY_ROLE || names[0] === ANY_ROLE) return ANY_RULE;
  const roleAt = compilePointer(entry.claim);
  const isAllowed = (role: string) => allow.includes(role);
  const required = names.filter(isAllowed);
  const redactedRoles = redactValue(names, path).filter((_text, index) => isAllowed(names[index] ?? ''));
  const set = new Set<unknown>(required);
  const isRequired = (role: unknown) => set.has(role);
  const isSingle = entry.array !== true && entry.format !== 'words';
  const allows = ({ claims }: Principal) => {
    const claim = roleAt(claims);
    return isSingle ? set.has(claim) : rolesIn(claim, entry).some(isRequired);
  };
  const heldBy = ({ claims }: Principal) => {
    const held = new Set(rolesIn(roleAt(claims), entry));
    return redactedRoles.filter((_role, index) => held.has(required[index]));
  };
  const form = entry.format === 'words' ? entry.format : entry.array === true;
  const message = isSecret([...rolePath, 'message']) ? undefined : entry.message;
  return Object.freeze({
    key: JSON.stringify([entry.claim, form, required]),
    allows,
    heldBy,
    isAny: false,
    required,
    redactedRoles,
    permissions: required.map((role) => [undefined, role] as const),
    permits: ([, role]: Permission) => isRequired(role),
    messageFor: () => message,
  });
}

const ANY_RULE: RoleRule = Object.freeze({
  key: '["any"]',
  allows: () => true,
  heldBy: () => undefined,
  isAny: true,
  required: [ANY_ROLE],
  redactedRoles: [ANY_ROLE],
  permissions: [[undefined, ANY_ROLE] as const],
  permits: () => true,
  messageFor: () => undefined,
});
