import { isLoopback } from '../../../engine/dns/loopback.ts';
import { HTTP_METHODS } from '../../../engine/http1/http-methods.ts';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Severity } from '../../../engine/problem/finding.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { parseAddress } from '../../../engine/settings/address.ts';
import { mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import type { DiffContext } from '../difference.ts';
import { addressOnlyIn, addressRanges } from '../settings/address-ranges.ts';
import { type PathPattern, parsePathPattern } from '../settings/effective-settings.ts';

/** A rule that classifies a changed value by its path in the manifest. */
export interface ValueRule {
  readonly id: string;
  readonly severity: Severity;
  readonly description: string;
  /** The rule also applies to everything below. */
  readonly pathPattern: PathPattern;
  /** Restricts the rule to some changes; default: every change. */
  readonly when?: ValueCondition;
}

/** Decides about the effects of an old and a new value. `undefined` stands for a missing value. */
type ValueCondition = (old: unknown, next: unknown, sides: Pick<DiffContext, 'old' | 'next'>) => boolean;

const isNew: ValueCondition = (old) => old === undefined;

const isPresent: ValueCondition = (old) => old !== undefined;

const isRemoved: ValueCondition = (_old, next) => next === undefined;

const isTrue: ValueCondition = (_old, next) => next === true;

/** True if a number, a size or a duration grew. */
const isMore: ValueCondition = (old, next) => Number(next) > Number(old);

/** True if the log has surrogates in fewer paths. By default only the paths of public routes have them. */
const isPlainer: ValueCondition = (old, next) => LOG_PATHS.indexOf(next) > LOG_PATHS.indexOf(old);

const LOG_PATHS: readonly unknown[] = ['keyed', undefined, 'plain'];

const hasAdded: ValueCondition = (old, next) => toList(next).some((item) => !toList(old).includes(item));

const hasRemoved: ValueCondition = (old, next, sides) => hasAdded(next, old, sides);

const hasFewer: ValueCondition = (old, next, sides) => next !== undefined && !hasAdded(old, next, sides);

/** `*` stands for every origin. */
const hasAddedOrigin: ValueCondition = (old, next, sides) => !toList(old).includes('*') && hasAdded(old, next, sides);

/** Without a list, a preflight allows all methods that the routes accept. */
const hasAddedMethod: ValueCondition = (old, next, sides) => hasAdded(old ?? HTTP_METHODS, next ?? HTTP_METHODS, sides);

/** True if peers are trusted that were not. */
const hasAddedAddress: ValueCondition = (_old, _next, { old, next }) => {
  const [before, now] = [old, next].map(({ manifest }) => addressRanges(manifest.server.trustedProxies));
  return addressOnlyIn(now ?? [], before ?? []) !== undefined;
};

/** True if a listener moved from loopback to other addresses, or a unix socket to more users. */
const isOpened: ValueCondition = (old, next) => reachOf(next) > reachOf(old);

const isOpenedAdmin: ValueCondition = (old, next) => old === undefined && isMap(next) && reachOf(next['listen']) > 0;

/** True if the admin API lost TLS, and other machines reach it. */
const isPlainAdmin: ValueCondition = (old, next, sides) =>
  old !== undefined && next === undefined && reachOf(valueAt(sides.next.effective, ['admin', 'listen'])) > 0;

/** True if client certificates were required, and TLS was removed with them. */
const hasLostClientCa: ValueCondition = (old, next) =>
  next === undefined && isMap(old) && old['clientCa'] !== undefined;

/** True if the parts of a form may be more, larger, of other types, or missing. `undefined` stands for any body. */
const isLooserForm: ValueCondition = (old, next) => {
  if (!isMap(old)) return false;
  if (!isMap(next)) return true;
  const before = old['parts'] as FormParts;
  return (
    Object.entries(next['parts'] as FormParts).some(([name, part]) => isLooserPart(before[name], part)) ||
    Object.entries(before).some(([name, part]) => part.required && !Object.hasOwn(next['parts'] as FormParts, name))
  );
};

type FormParts = NonNullable<NonNullable<RouteEntry['body']>['multipart']>['parts'];
type FormPart = FormParts[string];

function isLooserPart(old: FormPart | undefined, next: FormPart): boolean {
  if (old === undefined) return true;
  const hasMoreTypes = old.types !== undefined && !next.types?.every(mediaTypeMatcher(old.types));
  return (
    hasMoreTypes || next.maxBytes > old.maxBytes || next.maxCount > old.maxCount || (old.required && !next.required)
  );
}

const ALL_ADDRESSES = new Set(['0.0.0.0', '::']);

/** Ranks an address by who reaches it: this machine, one network, every network; below 0, some users of this machine. */
function reachOf(listen: unknown): number {
  if (typeof listen !== 'string') return 0;
  const [, group, others] = /^unix:.*(\d)(\d)$/.exec(listen) ?? [];
  if (group !== undefined) return isWritable(others) ? 0 : isWritable(group) ? -1 : -2;
  const { host } = parseAddress(listen);
  if (isLoopback(host)) return 0;
  return ALL_ADDRESSES.has(host) ? 2 : 1;
}

/** True if an octal digit of a mode has the bit for writing. */
function isWritable(digit = ''): boolean {
  return (Number(digit) & 2) !== 0;
}

function toList(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

const OWN_RESPONSE = 'The gateway responds itself to requests, no longer does so, or does so in another way.';
const TRUST = 'Tokens or keys are trusted for longer.';
const LESS_TRUST = 'Tokens or keys are trusted for less time.';
const CONDITIONS = 'Tokens must meet a new condition: an issuer, an audience, a type.';
const ENDPOINT = 'Another endpoint verifies tokens, or the gateway calls it with other settings.';
const FORM = 'The gateway now accepts forms or CSV bodies that it refused before, or other ones.';
const STRICTER_FORM = 'The gateway now validates the parts of a form or the columns of a CSV, or accepts fewer.';
const CORS = 'Pages of other origins have more access.';
const PROXIES = 'The gateway trusts the forwarding headers of more peers: they determine the address of the client.';
const FEWER_PROXIES = 'The gateway trusts the forwarding headers of fewer peers.';
const STOPPING = 'Requests have a different time to finish when the process stops.';
const NO_TESTS = 'A manifest is activated without the tests that it had to pass.';
const GRACE = 'Connections have a different time to finish after a reload changes their route.';
const FALLBACK = 'While a store does not respond, each gateway counts alone; it refused requests.';
const CREDENTIAL = 'The admin API no longer requires a token or a client certificate that it required.';
const LISTENER = 'Machines or users can reach the gateway that could not reach it before.';
const ADMIN = 'The admin API requires another token or client certificate.';

/** The first rule that matches applies. The last one matches everything. */
export const VALUE_RULES: readonly ValueRule[] = [
  rule('token-keys', 'error', 'Tokens are verified with other keys.', 'auth tokens jwt jwks|discovery|secret'),
  rule('token-conditions-more', 'info', CONDITIONS, 'auth tokens * issuer|audience|type', isNew),
  rule('token-conditions-more', 'info', CONDITIONS, 'auth tokens * audience', hasFewer),
  rule('token-issuer', 'error', 'Tokens of another issuer are accepted.', 'auth tokens * issuer'),
  rule('token-audience', 'error', 'Tokens for another audience are accepted.', 'auth tokens * audience'),
  rule('token-algorithms', 'error', 'Tokens may be signed by another algorithm.', 'auth tokens * algorithms', hasAdded),
  rule('token-algorithms-fewer', 'info', 'Tokens may be signed by fewer algorithms.', 'auth tokens * algorithms'),
  rule('token-type', 'error', 'Tokens of another type are accepted.', 'auth tokens * type'),
  rule('token-claims', 'error', 'Tokens that lack a claim are accepted.', 'auth tokens * requiredClaims', hasRemoved),
  rule('token-claims-more', 'info', 'Tokens must have more claims.', 'auth tokens * requiredClaims'),
  rule('token-trust', 'warning', TRUST, 'auth tokens * clockTolerance|staleIfError', isMore),
  rule('token-trust', 'warning', TRUST, 'auth tokens * cache maxAge', isMore),
  rule('token-trust-less', 'info', LESS_TRUST, 'auth tokens * clockTolerance|staleIfError'),
  rule('token-trust-less', 'info', LESS_TRUST, 'auth tokens * cache maxAge'),
  rule('token-limits', 'info', 'The timeout or the cache for verifying tokens changed.', 'auth tokens * cache|timeout'),
  rule('token-endpoint', 'error', ENDPOINT, 'auth tokens'),
  rule(
    'role-claim',
    'error',
    'The role is read from another claim, or in another format.',
    'auth role claim|array|format',
  ),
  rule('role-message', 'info', 'Clients whose role is refused receive another message.', 'auth role message'),
  rule('realm-changed', 'info', 'The realm in WWW-Authenticate changed.', 'auth realm'),
  rule('upstream-host-header', 'warning', 'Requests to an upstream have another Host.', 'upstreams * host'),
  rule('upstream-settings', 'info', 'The settings of an upstream changed.', 'upstreams *'),
  rule('cors-widened', 'warning', CORS, 'cors origins', hasAddedOrigin),
  rule('cors-widened', 'warning', CORS, 'cors methods', hasAddedMethod),
  rule('cors-widened', 'warning', CORS, 'cors headers|exposedHeaders', hasAdded),
  rule('cors-widened', 'warning', CORS, 'cors credentials', isTrue),
  rule('cors-widened', 'warning', CORS, 'cors maxAge', isMore),
  // The complete section: without it, pages of other origins have no access.
  rule('cors-widened', 'warning', CORS, 'cors', (old, next) => old === undefined && isMap(next)),
  rule('cors-narrowed', 'info', 'Pages of other origins have less access.', 'cors'),
  rule('form-changed', 'warning', FORM, 'routes * body multipart', isLooserForm),
  rule('form-changed', 'warning', FORM, 'routes * body csv', isPresent),
  rule('form-added', 'info', STRICTER_FORM, 'routes * body multipart|csv'),
  rule('own-response', 'warning', OWN_RESPONSE, 'routes * respond|redirect'),
  rule('timeout-changed', 'info', 'The timeout of a route changed.', 'routes * timeout'),
  rule('server-plain', 'error', 'Clients connect without TLS.', 'server tls', isRemoved),
  rule('server-certificate', 'info', 'Clients receive another certificate, or TLS is new.', 'server tls'),
  rule('trusted-proxies-widened', 'error', PROXIES, 'server trustedProxies', hasAddedAddress),
  rule('trusted-proxies-narrowed', 'info', FEWER_PROXIES, 'server trustedProxies'),
  rule('server-stopping', 'info', STOPPING, 'server stopping'),
  rule('server-workers', 'info', 'After a restart, another number of threads serves requests.', 'server workers'),
  rule('server-via', 'info', 'Upstreams and other gateways know this gateway by another name.', 'server via'),
  rule(
    'server-response-header',
    'warning',
    'Responses lack a header, or have another value.',
    'server responseHeaders',
    isPresent,
  ),
  rule('server-response-headers', 'info', 'Responses have more headers.', 'server responseHeaders'),
  rule('rate-limit-headers', 'info', 'Responses have other RateLimit headers.', 'server rateLimitHeaders'),
  rule('server-limit-raised', 'warning', 'Clients may use more resources of the server.', 'server limits', isMore),
  rule('server-limits', 'info', 'Clients may use fewer resources of the server, or have different timeouts.', 'server'),
  rule('self-test-removed', 'error', NO_TESTS, 'reload selfTest', isRemoved),
  rule('self-test-added', 'info', 'A manifest must pass tests before it is activated.', 'reload selfTest', isNew),
  rule('self-test-changed', 'warning', 'A manifest must pass other tests before it is activated.', 'reload selfTest'),
  rule('reload-changed', 'info', GRACE, 'reload'),
  rule('store-fallback', 'warning', FALLBACK, 'stores * onFailure', (_old, next) => next === 'local'),
  rule('store-changed', 'info', 'A store of rate limits was added, changed or removed.', 'stores *'),
  rule('log-more', 'warning', 'The log contains more requests.', 'log sample2xx', isMore),
  rule('log-paths-plain', 'warning', 'The log has identifiers in paths that had surrogates.', 'log paths', isPlainer),
  rule('log-paths-keyed', 'info', 'The log has surrogates in paths that had identifiers.', 'log paths'),
  rule('log-secret', 'info', 'The surrogates in the log differ from those in earlier lines.', 'log secret'),
  rule('log-replay', 'info', 'The log has the facts that a replay needs.', 'log replay', isTrue),
  rule('log-changed', 'info', 'The log contains fewer requests, or less about each.', 'log'),
  rule('tracing-changed', 'info', 'The gateway records more or fewer traces.', 'tracing'),
  rule('lint-changed', 'info', 'Other lint rules are enabled.', 'lint'),
  rule('listen-opened', 'error', LISTENER, 'listen', isOpened),
  rule(
    'listen-changed',
    'info',
    'The gateway listens on another address, or fewer users may connect to its unix socket.',
    'listen',
  ),
  rule('admin-opened', 'error', 'Other machines can reach the admin API.', 'admin listen', isOpened),
  rule('admin-opened', 'error', 'Other machines can reach the admin API.', 'admin', isOpenedAdmin),
  rule('admin-unprotected', 'error', CREDENTIAL, 'admin tls clientCa', isRemoved),
  rule('admin-callers', 'warning', ADMIN, 'admin tls clientCa', isPresent),
  rule('admin-plain', 'error', 'Other machines reach the admin API without TLS.', 'admin tls', isPlainAdmin),
  rule('admin-unprotected', 'error', CREDENTIAL, 'admin tls', hasLostClientCa),
  rule('admin-unprotected', 'error', CREDENTIAL, 'admin token', isRemoved),
  rule('admin-callers', 'warning', ADMIN, 'admin token', isPresent),
  rule('admin-changed', 'info', 'The admin API changed, or was added on loopback, or was removed.', 'admin'),
  rule('other-changed', 'warning', 'A value changed that no other kind covers.', ''),
];

function rule(id: string, severity: Severity, description: string, path: string, when?: ValueRule['when']): ValueRule {
  return { id, severity, description, pathPattern: parsePathPattern(path), ...(when && { when }) };
}
