import { BODYLESS_METHODS } from '../http1/http-methods.ts';
import type { Manifest, Requirement, RouteEntry } from '../manifest/manifest.generated.ts';
import { durationMs, sizeBytes } from '../manifest/units.ts';
import type { Route } from '../plan/route-definition.ts';
import { acceptedEntries, tokenEntries } from '../tokens/token-entries.ts';
import { ruleOf } from '../tokens/verifier.ts';
import { mediaTypeMatcher } from '../validation/media-type.ts';
import type { Condition } from './compile-invariants.ts';

/** A route with the parts of the manifest that requirements are about. */
interface RequiredRoute {
  readonly route: Route;
  readonly entry: RouteEntry;
  readonly manifest: Manifest;
  /** The methods of `auth.tokens` that accept the tokens of the requests; `undefined` for all of the route. */
  readonly issuers: Condition['issuers'];
}

/** A member of `require` that a route does not fulfil. */
export interface Breach {
  readonly member: keyof Requirement;
  /** Says what the route does instead: `is public`. */
  readonly message: string;
  /** The methods whose requests break it. */
  readonly methods: readonly string[];
}

export function breachesOf(requirement: Requirement, required: RequiredRoute): Breach[] {
  return (Object.keys(REQUIREMENTS) as (keyof Requirement)[]).flatMap((member) => {
    if (requirement[member] === undefined) return [];
    const message = REQUIREMENTS[member](requirement, required);
    if (message === undefined) return [];
    const { methods } = required.route;
    return [{ member, message, methods: member === 'body' ? methods.filter(hasBody) : methods }];
  });
}

function hasBody(method: string): boolean {
  return !BODYLESS_METHODS.has(method);
}

/** Returns what a route does instead of fulfilling a member; `undefined` if it fulfils it. */
type Rule = (requirement: Requirement, required: RequiredRoute) => string | undefined;

const REQUIREMENTS: Readonly<Record<keyof Requirement, Rule>> = {
  served: () => 'serves it',
  access: ({ access }, { route }) => (route.access === access ? undefined : `is ${route.access}`),
  roles: ({ roles }, { route, issuers }) => {
    // Of several issuers, each one has its own roles.
    const accepted = issuers?.filter((name) => route.auth?.issuers?.has(name) ?? true) ?? [undefined];
    const breaches = accepted.map((issuer) => breachOfRoles(roles ?? {}, route, issuer));
    return breaches.find((breach) => breach !== undefined);
  },
  issuers: ({ issuers }, { route, entry, manifest, issuers: asked }) => {
    if (route.access === 'public') return 'is public';
    const other = acceptedEntries(tokenEntries(manifest.auth), entry.issuers).find(
      ({ name = '' }) => !issuers?.only.includes(name) && asked?.includes(name) !== false,
    );
    return other && `accepts tokens of the method "${other.name}"`;
  },
  rateLimit: ({ rateLimit }, { route }) => breachOfRateLimit(rateLimit ?? [], route),
  body: ({ body }, required) => breachOfBody(body ?? {}, required),
  parameters: (_requirement, { route }) => {
    if (route.parameters === undefined) return 'has no rules for parameters';
    return route.validation === 'enforce' ? undefined : 'only reports parameters that are not valid';
  },
  validation: (_requirement, { route }) => (route.validation === 'enforce' ? undefined : 'only reports violations'),
  upstream: ({ upstream }, { route }) =>
    route.upstream && !upstream?.only.includes(route.upstream.id) ? `forwards to "${route.upstream.id}"` : undefined,
  tls: (_requirement, { route }) => {
    const plain = route.upstream?.endpoints.find(({ url }) => url.protocol !== 'https:');
    return plain && `forwards to "${route.upstream?.id}" without TLS`;
  },
  timeout: ({ timeout = '0s' }, { route }) => {
    if (route.upstream === undefined) return undefined;
    const limitMs = route.timeoutMs ?? route.upstream.totalTimeoutMs;
    if (limitMs === undefined) return 'has no time limit of a complete exchange';
    return limitMs > durationMs(timeout) ? `has a time limit of ${limitMs} ms` : undefined;
  },
  cors: ({ cors }, { manifest }) => {
    const other = manifest.cors?.origins.find((origin) => !cors?.origins.includes(origin));
    return other === undefined ? undefined : 'may be read by pages of another origin';
  },
  websocket: ({ websocket }, { route }) => {
    if (route.websocket === websocket) return undefined;
    return route.websocket ? 'accepts WebSocket handshakes' : 'accepts no WebSocket handshake';
  },
};

function breachOfRoles(
  { only, atLeast }: NonNullable<Requirement['roles']>,
  { auth, access }: Route,
  issuer: string | undefined,
): string | undefined {
  if (access === 'public') return only === undefined ? undefined : 'is public';
  const { required = [], redactedRoles = [], isAny = false } = (auth && ruleOf(auth.role, issuer)) ?? {};
  if (isAny) return only === undefined ? undefined : 'lets every caller with a valid token pass';
  const other = required.findIndex((role) => only?.includes(role) === false);
  if (other !== -1) return `lets the role "${redactedRoles[other]}" pass`;
  const missing = atLeast?.find((role) => !required.includes(role));
  return missing === undefined ? undefined : `does not let the role "${missing}" pass`;
}

function breachOfRateLimit(rateLimit: 'any' | string[], { rateLimits }: Route): string | undefined {
  const enforced = Object.values(rateLimits ?? {})
    .flat()
    .filter(({ mode }) => mode === 'enforce');
  if (rateLimit === 'any') return enforced.length > 0 ? undefined : 'has no rate limit that refuses requests';
  const missing = rateLimit.find((name) => !enforced.some(({ id }) => id === name));
  return missing === undefined ? undefined : `does not have the rate limit "${missing}"`;
}

function breachOfBody({ schema, maxBytes, types }: NonNullable<Requirement['body']>, { route, entry }: RequiredRoute) {
  // The gateway discards the body.
  if (route.ownResponse !== undefined) return undefined;
  const { body } = entry;
  if (schema === true && body?.schema === undefined) return 'has no schema for its body';
  if (schema === true && route.validation === 'report') return 'only reports bodies that are not valid';
  const limit = maxBytes === undefined ? Number.POSITIVE_INFINITY : sizeBytes(maxBytes);
  if (maxBytes !== undefined && body === undefined) return 'has no size limit for its body';
  if ((route.body?.limitBytes ?? 0) > limit) return `accepts bodies of ${route.body?.limitBytes} bytes`;
  if (types === undefined) return undefined;
  const accepted = body?.types ?? (body?.schema === undefined ? undefined : ['application/json']);
  if (accepted === undefined) return 'accepts every media type';
  const isAllowed = mediaTypeMatcher(types);
  const other = accepted.find((type) => !isAllowed(type.toLowerCase()));
  return other === undefined ? undefined : `accepts ${other}`;
}
