import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { ruleOf } from '../../engine/tokens/verifier.ts';
import type { MutationContext, TestedRoute } from '../../prove/mutation/context.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import type { LogReader } from '../access-log/read-logs.ts';
import { increase } from '../comparison.ts';

/** A hostile log can have any number of methods and reasons. The gateway has about 150 reasons. */
const MAX_OBSERVATIONS = 50_000;
const MAX_METHODS = 20;
const MAX_REASONS = 300;
const MAX_REPORTED = 8;
const REASON = /^[A-Za-z0-9_]{1,64}$/;
/** As a test case can have it. */
const METHOD = /^[A-Za-z]+$/;

/** The reasons why logged requests have no test case, with the number of requests. */
export type UnrecordedCounts = Map<string, number>;

/** Groups the requests of a log that one test case can stand for, in the order of the first ones. */
export async function observeRequests(reader: LogReader, context: MutationContext) {
  const { router } = context.plan;
  const unrecorded: UnrecordedCounts = new Map();
  const observations = new Map<string, Observation>();
  const routes = new Map(context.routes.map((tested) => [tested.entry.id, tested]));
  const limits = new Set(context.plan.rateLimits.map(({ id }) => id));
  const issuers = new Set(tokenEntries(context.manifest.auth).map(({ issuer }) => issuer));
  /** The methods other than those of routes, and the reasons of refusals. */
  const methods = new Set<string>();
  const reasons = new Set<string>();
  let requests = 0;
  for await (const batch of reader)
    for (const request of batch) {
      requests += request.weight;
      const reason = unrecordedReason(request) ?? observe(request);
      if (reason !== undefined) increase(unrecorded, reason, request.weight);
    }
  return { observations: [...observations.values()], unrecorded, requests };

  function unrecordedReason(request: LoggedRequest): string | undefined {
    const { route, method, refusal, reason, limit, reported, issuer } = request;
    if (route !== undefined && !routes.has(route)) return 'the manifest has no such route';
    if (limit !== undefined && !limits.has(limit)) return 'the manifest has no such rate limit';
    if (issuer !== undefined && !issuers.has(issuer)) return 'the manifest has no such token method';
    if (method !== undefined && !isPossibleMethod(method)) return 'a test case cannot have such a method';
    if (refusal !== undefined && !isKnownRefusal(refusal, reason)) return 'no test case can cause such a refusal';
    const isKnown = reported.length <= MAX_REPORTED && reported.every((code) => Object.hasOwn(REFUSALS, code));
    return isKnown ? undefined : 'this version reports no such violations';
  }

  function isPossibleMethod(method: string): boolean {
    return METHOD.test(method) && (HTTP_METHODS.includes(method) || addUpTo(MAX_METHODS, methods, method));
  }

  function isKnownRefusal(refusal: string, reason = refusal): boolean {
    return Object.hasOwn(REFUSALS, refusal) && REASON.test(reason) && addUpTo(MAX_REASONS, reasons, reason);
  }

  /** Returns the reason if the request cannot be observed. */
  function observe(request: LoggedRequest): string | undefined {
    const { route, weight, status } = request;
    const result = resultOf(request);
    if (result === undefined) return 'the client disconnected before the response';
    const tested = route === undefined ? routeNear(request) : routes.get(route);
    const { role, issuer, isLogged, ...facts } = factsOf(request, tested, result, context);
    const key = JSON.stringify([
      tested?.entry.id,
      facts.isMatched,
      facts.method,
      role,
      issuer,
      facts.isHandshake,
      result,
    ]);
    if (observations.size === MAX_OBSERVATIONS && !observations.has(key))
      return `the log has more than ${MAX_OBSERVATIONS} different kinds of requests`;
    const created = { ...facts, role, issuer, requests: 0, statuses: new Map(), hasLoggedRole: false };
    const observation: Observation = getOrCreate(observations, key, () => created);
    observation.requests += weight;
    observation.hasLoggedRole ||= isLogged;
    if (status !== undefined) increase(observation.statuses, status, weight);
    return undefined;
  }

  /** Returns a route with the path of a request, for another method. */
  function routeNear({ path }: LoggedRequest): TestedRoute | undefined {
    if (path === undefined || path === '*') return undefined;
    const [method] = router.allowedMethods(path);
    const route = method === undefined ? undefined : router.match(method, path);
    return route && routes.get(route.id);
  }
}

function factsOf(
  request: LoggedRequest,
  tested: TestedRoute | undefined,
  result: ObservedResult,
  context: MutationContext,
) {
  const { method = 'GET', route, path, status, kind, refusal } = request;
  const isMatched = route !== undefined;
  const isHandshake = kind === 'websocket' || status === 101 || refusal === 'origin_not_allowed';
  const caller = isMatched && tested !== undefined ? observedRole(request, tested, context) : NO_ROLE;
  return { tested, isMatched, method, isHandshake, result, path, ...caller };
}

/** Adds a text to a set. Returns false if it has too many others. */
function addUpTo(max: number, texts: Set<string>, text: string): boolean {
  if (texts.size < max) texts.add(text);
  return texts.has(text);
}

function resultOf(request: LoggedRequest): ObservedResult | undefined {
  const { refusal, reason, limit, status, route, path, method, kind } = request;
  if (refusal !== undefined) return { kind: 'refused', code: refusal as RefusalCode, reason: reason ?? refusal, limit };
  if (status === undefined) return undefined;
  if (route === undefined) {
    if (kind === 'server-options' || path === undefined || path === '*') return { kind: 'server-options' };
    return method === 'OPTIONS' ? { kind: 'preflight' } : undefined;
  }
  return { kind: 'forwarded', statusClass: Math.floor(status / 100), reported: request.reported.toSorted() };
}

/** The result of logged requests: a refusal, or a response of one class. */
type ObservedResult =
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly reason: string;
      readonly limit: string | undefined;
    }
  /** The codes of the violations that were only reported, in order. */
  | { readonly kind: 'forwarded'; readonly statusClass: number; readonly reported: readonly string[] }
  /** The gateway responded to a preflight, or to `OPTIONS *`. */
  | { readonly kind: 'preflight' }
  | { readonly kind: 'server-options' };

/** Logged requests that one test case can stand for: they differ at most in their paths, bodies and callers of the same role. */
export interface Observation {
  /** The matched route. For `method_not_allowed` and preflights it is a route with such a path. */
  readonly tested: TestedRoute | undefined;
  readonly isMatched: boolean;
  readonly method: string;
  /** A role of the manifest, or one that it does not allow; `undefined` if the result does not depend on a role. */
  readonly role: string | undefined;
  /** The method that accepted the token; `undefined` if there is only one, or the result does not depend on a role. */
  readonly issuer: string | undefined;
  /** True if the log has the role of at least one of the requests. */
  hasLoggedRole: boolean;
  readonly isHandshake: boolean;
  readonly result: ObservedResult;
  /** The sum of the weights. */
  requests: number;
  /** The number of requests by status. */
  readonly statuses: Map<number, number>;
  /** The path of the first request. */
  readonly path: string | undefined;
}

/** The result does not depend on a role. */
const NO_ROLE = { role: undefined, issuer: undefined, isLogged: true };

/** The gateway refuses these requests before it knows the caller. */
const BEFORE_CALLER: readonly (string | undefined)[] = ['origin_not_allowed', 'token_missing', 'token_invalid'];

/**
 * Returns the role for a request to a route. Of several roles of one caller it is the one that decides. It is never a text of the
 * log, but a role of the manifest, or the other role of the context. If the log does not have it, it is any role with the same result.
 */
function observedRole(request: LoggedRequest, { route }: TestedRoute, { plan, otherRole }: MutationContext) {
  const { refusal, roles, issuer } = request;
  if (route.auth === undefined || plan.auth === undefined || BEFORE_CALLER.includes(refusal)) return NO_ROLE;
  // A route has no rule for an issuer that it does not accept.
  const required = ruleOf(route.auth.role, issuer)?.required ?? [];
  const isRefused = refusal === 'role_not_allowed';
  if (roles === undefined) {
    if (refusal === 'keys_unavailable') return NO_ROLE;
    // A login without a token in its response has no role, and neither has a caller whose token was not verified.
    if (route.access === 'public' && !isRefused && !isLogin(request)) return NO_ROLE;
    return { role: isRefused ? otherRole : required[0], issuer, isLogged: false };
  }
  const { required: all = [], redactedRoles = [] } = ruleOf(plan.auth.role, issuer) ?? {};
  const logged = all.filter((_role, index) => roles.includes(redactedRoles[index] ?? ''));
  const deciding = logged.find((role) => required.includes(role) !== isRefused) ?? logged[0];
  return { role: deciding ?? otherRole, issuer, isLogged: true };
}

/** True if the response of a login route had a verified token. */
function isLogin({ refusal, status = 0, subject }: LoggedRequest): boolean {
  return refusal === undefined && subject !== undefined && status >= 200 && status < 300;
}
