import type { TokenErrorCode } from '../gateway/response/refusal.ts';
import { foldHeaderName } from '../header-names.ts';
import type { Auth as AuthEntry, Role as RoleEntry, RouteEntry, TokenMethod } from '../manifest/manifest.generated.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { claimRules, claimsError } from './claims.ts';
import { jwtRules, type UnsignedToken, unsignedError } from './jwt.ts';
import type { Issuers } from './verifier.ts';

const KINDS = ['jwt', 'introspection', 'userinfo'] as const;
type TokenKind = (typeof KINDS)[number];

interface EntryOf<Kind extends TokenKind> {
  /** `undefined` if `auth.tokens` is no list. */
  readonly name: string | undefined;
  /** The name; `undefined` if there is only one method. */
  readonly issuer: string | undefined;
  readonly kind: Kind;
  readonly entry: NonNullable<TokenMethod[Kind]>;
  readonly path: Path;
  readonly role: AuthEntry['role'];
  /** The roles of `role`; `any` alone if a valid token is enough. */
  readonly allow: readonly string[];
  readonly rolePath: Path;
}

/** In place of a list of roles: a valid token is enough. */
export const ANY_ROLE = 'any';

/** Returns the roles that a role rule or `roles` of a route allows. */
export function rolesOfEntry(entry: AuthEntry['role'] | NonNullable<RouteEntry['roles']>): readonly string[] {
  return typeof entry === 'string' ? [entry] : Array.isArray(entry) ? entry : entry.allow;
}

/** A token method as a manifest has it, with its roles. */
export type TokenEntry = EntryOf<'jwt'> | EntryOf<'introspection'> | EntryOf<'userinfo'>;

/** Returns the token methods of a manifest, in its order. The first one is that of routes that name no issuers. */
export function tokenEntries(auth: AuthEntry | undefined): TokenEntry[] {
  if (auth === undefined) return [];
  const { tokens, role } = auth;
  const listed = Array.isArray(tokens) ? tokens.map((method, index) => ({ method, at: [index] })) : undefined;
  return (listed ?? [{ method: tokens as Partial<TokenMethod>, at: [] }]).flatMap(({ method, at }) => {
    const path = ['auth', 'tokens', ...at];
    const rolePath = method.role === undefined ? ['auth', 'role'] : [...path, 'role'];
    const issuer = listed !== undefined && listed.length > 1 ? method.name : undefined;
    const own = method.role ?? role;
    const common = { name: method.name, issuer, role: own, allow: rolesOfEntry(own), rolePath };
    return KINDS.flatMap((kind) =>
      method[kind] === undefined ? [] : [{ ...common, kind, entry: method[kind], path: [...path, kind] } as TokenEntry],
    );
  });
}

/** Returns the role rules of a manifest that some method has, each with its first method. */
export function roleEntries(auth: AuthEntry | undefined): TokenEntry[] {
  const entries = tokenEntries(auth);
  return entries.filter(({ role }, index) => entries.findIndex((other) => other.role === role) === index);
}

/** Returns the methods whose tokens a route accepts: those that it names, or the first one. */
export function acceptedEntries<Entry extends TokenEntry>(
  entries: readonly Entry[],
  issuers: RouteEntry['issuers'],
): readonly Entry[] {
  return issuers === undefined ? entries.slice(0, 1) : entries.filter(({ name = '' }) => issuers.includes(name));
}

/** Returns the methods whose roles a route can require: of its callers, and of the tokens in the responses of its login. */
export function guardEntries(entries: readonly TokenEntry[], { access, issuers, login }: RouteEntry): TokenEntry[] {
  const accepted = access === 'public' ? [] : acceptedEntries(entries, issuers);
  const ofLogin = login && loginEntry(entries, login);
  return entries.filter((entry) => accepted.includes(entry) || entry === ofLogin);
}

/** Returns the method that verifies the tokens in the responses of a login. */
export function loginEntry<Entry extends TokenEntry>(
  entries: readonly Entry[],
  { issuer }: NonNullable<RouteEntry['login']>,
): Entry | undefined {
  return issuer === undefined ? entries[0] : entries.find(({ name }) => name === issuer);
}

export function issuersOf(entries: readonly TokenEntry[]): Issuers {
  return entries.length > 0 && entries.every(({ issuer }) => issuer === undefined)
    ? undefined
    : new Set(entries.map(({ issuer }) => issuer));
}

/** Returns the values of a claim that may be roles. A claim in another form has none. */
export function rolesIn(claim: unknown, { array, format }: Pick<RoleEntry, 'array' | 'format'>): readonly unknown[] {
  if (format === 'words') return typeof claim === 'string' ? claim.split(' ') : [];
  if (array) return Array.isArray(claim) ? claim : [];
  return [claim];
}

/** Returns why a method does not accept a token now, whatever its signature; `undefined` if it accepts the token. */
export function unsignedTokenError({ kind, entry }: TokenEntry, token: UnsignedToken): TokenErrorCode | undefined {
  return kind === 'jwt' ? unsignedError(token, jwtRules(entry)) : claimsError(token.claims, claimRules(entry));
}

export type AuthForward = NonNullable<AuthEntry['forward']>;

type ForwardingEntry = Partial<Pick<RouteEntry, 'access' | 'forward' | 'respond' | 'redirect'>>;

/** Returns the headers that a route sets, and the JSON Pointers of their claims: those of `auth.forward`, with its own changes. */
export function claimHeadersOf({ access, forward, respond, redirect }: ForwardingEntry, common: AuthForward = {}) {
  if (access === 'public' || forward === false || (respond ?? redirect) !== undefined) return [];
  const byName = new Map(
    [...Object.entries(common), ...Object.entries(forward ?? {})].map(([name, entry]) => {
      const { claim, missing = 'refuse' } = typeof entry === 'string' ? { claim: entry } : entry || {};
      return [foldHeaderName(name), { name, claim, missing }];
    }),
  );
  return [...byName.values()].flatMap(({ claim, ...rest }) => (claim === undefined ? [] : [{ ...rest, claim }]));
}

const RULE = 'token-method';

/** Reports methods of a list that could take the tokens of another one. */
export function checkTokenEntries({ tokens }: AuthEntry, entries: readonly TokenEntry[], findings: Finding[]): void {
  if (!Array.isArray(tokens)) return;
  for (const [index, method] of tokens.entries()) {
    const path = ['auth', 'tokens', index];
    const kinds = KINDS.filter((kind) => method[kind] !== undefined);
    if (kinds.length !== 1)
      findings.push(errorAt(path, RULE, 'write exactly one of "jwt", "introspection" and "userinfo" in each method'));
    if (tokens.findIndex(({ name }) => name === method.name) < index)
      findings.push(errorAt([...path, 'name'], RULE, `another method has the name "${method.name}"; rename one`));
  }
  const issuers = new Map<string, TokenEntry>();
  let opaque: TokenEntry | undefined;
  for (const one of entries) {
    const issuer = 'issuer' in one.entry ? one.entry.issuer : undefined;
    const twin = issuer === undefined ? undefined : issuers.get(issuer);
    if (issuer !== undefined && twin === undefined) issuers.set(issuer, one);
    if (twin !== undefined) {
      const message = `the method "${twin.name}" has the same issuer, so a token would have two methods; remove one of them`;
      const related = { path: [...twin.path, 'issuer'], message: 'the other method' };
      findings.push({ ...errorAt([...one.path, 'issuer'], RULE, message), related });
    }
    if (one.kind === 'jwt') continue;
    if (opaque !== undefined) {
      const message = `the method "${opaque.name}" already takes the tokens that are no JWT of a listed issuer; remove one of them`;
      findings.push(errorAtKey(one.path, RULE, message));
    }
    opaque ??= one;
  }
}
