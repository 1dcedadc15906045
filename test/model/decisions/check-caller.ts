import { foldHeaderName } from '../../../src/engine/header-names.ts';
import { compilePointer } from '../../../src/engine/json-pointer.ts';
import type { Manifest, Role, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import { type HeaderLine, type ModelRequest, refuse } from './model-request.ts';

// ## Callers
//
// A route with `access: public` ignores tokens. A route with `access: protected` makes these checks.

type Token = ModelRequest['caller'];
type Method = { readonly name: string; readonly role: 'any' | Role };

export function checkCaller(manifest: Manifest, route: RouteEntry, token: Token): HeaderLine[] {
  // A request without a bearer token in `Authorization` gets 401 `token_missing`. Tokens at other places do not count.
  if (token === 'none') return refuse('token_missing');
  // A token that no method of `auth.tokens` verifies gets 401 `token_invalid`.
  if (token === 'invalid') return refuse('token_invalid');
  // Of several methods, a route accepts the tokens of those in `issuers`, by default of the first one. Others get 401 `token_invalid`.
  const method = acceptedMethods(manifest, route).find(({ name }) => name === (token.issuer ?? name));
  if (method === undefined) return refuse('token_invalid');
  // A caller without an allowed role gets 403 `role_not_allowed`.
  if (!hasAllowedRole(method, route, token.claims)) refuse('role_not_allowed');
  return route.upstream === undefined ? [] : claimHeaders(manifest, route, token.claims);
}

/** Checks a token in the response of a route with `login`. @param isListed true at a place that `login` names */
export function checkLoginToken(manifest: Manifest, route: RouteEntry, token: Token, isListed: boolean): void {
  // On a route with `login`, public or not, the gateway checks the response of the upstream before the client gets it. A token at a place that it names must be valid for the method `login.issuer`, by default the first one: otherwise 502 `login_response_refused`.
  if (token === 'none') return;
  const issuer = token === 'invalid' ? undefined : (token.issuer ?? '');
  const method = methodsOf(manifest).find(({ name }) => name === issuer || issuer === '');
  if (isListed && method?.name !== loginMethod(manifest, route)?.name) refuse('login_response_refused');
  // Its caller must have an allowed role, and so must that of every other JWT in the response that the gateway accepts: otherwise 403 `role_not_allowed`. A response without a token passes.
  if (method && token !== 'invalid' && !hasAllowedRole(method, route, token.claims)) refuse('role_not_allowed');
}

/** Returns the roles that a route allows, each with its method; none if the route checks no token. */
export function permissionsOf(route: RouteEntry, manifest: Manifest): (readonly [method: string, role: string])[] {
  const ofCaller = route.access === 'public' ? [] : acceptedMethods(manifest, route);
  const ofLogin = route.login && loginMethod(manifest, route);
  const names = [...ofCaller, ...(ofLogin ? [ofLogin] : [])].map(({ name }) => name);
  const used = methodsOf(manifest).filter(({ name }) => names.includes(name));
  return used.flatMap((method) => allowedRoles(method, route).map((role) => [method.name, role] as const));
}

function methodsOf({ auth }: Manifest): Method[] {
  return auth === undefined ? [] : [auth.tokens].flat().map((method) => ({ name: '', role: auth.role, ...method }));
}

function acceptedMethods(manifest: Manifest, { issuers }: RouteEntry): Method[] {
  return methodsOf(manifest).filter(({ name }, index) => issuers?.includes(name) ?? index === 0);
}

function loginMethod(manifest: Manifest, { login }: RouteEntry): Method | undefined {
  return methodsOf(manifest).find(({ name }) => name === (login?.issuer ?? name));
}

function allowedRoles({ role }: Method, { roles }: RouteEntry): readonly string[] {
  // The allowed roles are `role.allow` of the method or of `auth`, or those of them that `roles` of the route lists. `any` means that a valid token is enough.
  return role === 'any' || roles === 'any' ? ['any'] : role.allow.filter((each) => roles?.includes(each) ?? true);
}

function hasAllowedRole(method: Method, route: RouteEntry, claims: object): boolean {
  const allowed: readonly unknown[] = allowedRoles(method, route);
  if (method.role === 'any' || allowed.includes('any')) return true;
  // The role of a caller is the claim at `role.claim`, compared exactly. With `array: true` it is a list of roles, with `format: words` a text of roles between blanks.
  const { claim: pointer, array = false, format } = method.role;
  const claim = compilePointer(pointer)(claims);
  if (format === 'words') return typeof claim === 'string' && claim.split(' ').some((each) => allowed.includes(each));
  return Array.isArray(claim) === array && [claim].flat().some((each) => allowed.includes(each));
}

function claimHeaders({ auth }: Manifest, { forward }: RouteEntry, claims: object): HeaderLine[] {
  // `auth.forward` sets headers from claims. `forward` of the route adds some, and turns off others, or all of them, with `false`.
  const entries = forward === false ? [] : [...Object.entries(auth?.forward ?? {}), ...Object.entries(forward ?? {})];
  const byName = new Map(entries.map(([name, entry]) => [foldHeaderName(name), { name, entry }]));
  return [...byName.values()].flatMap(({ name, entry }): HeaderLine[] => {
    if (entry === false) return [];
    const { claim, missing = 'refuse' } = typeof entry === 'string' ? { claim: entry } : entry;
    const value = compilePointer(claim)(claims) ?? '';
    const texts = [value].flat().map((item) => (typeof item === 'object' ? '\0' : String(item)));
    // A claim that is absent, null or empty gets 403 `claim_unusable`. With `missing: omit` the request has no such header.
    if (missing === 'omit' && texts.join() === '') return [];
    // A claim that no header can have gets 403 `claim_unusable` too: a map, a list of texts that are no tokens of RFC 9110, control characters, and more than 1024 characters.
    const isUsable = (text: string) => (Array.isArray(value) ? TOKEN : /^\P{Cc}+$/u).test(text);
    const text = texts.map((each) => each.replaceAll(/^ +| +$|[^ -$&-~]/gu, encodeURIComponent)).join();
    return texts.every(isUsable) && text.length <= 1024 && text !== '' ? [[name, text]] : refuse('claim_unusable');
  });
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
