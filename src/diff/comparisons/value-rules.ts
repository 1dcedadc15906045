import { isLoopback } from '../../loopback.ts';
import { durationMs, sizeBytes } from '../../manifest/units.ts';
import { isMap } from '../../plan/schema/schema-walk.ts';
import { parseAddress } from '../../plan/settings/address.ts';
import type { Severity } from '../../problem/finding.ts';

/** What a value of the manifest has become means, by where it stands. */
export interface ValueRule {
  readonly id: string;
  readonly severity: Severity;
  readonly description: string;
  /** The keys on the way to it; `*` is any, and what is below belongs to it. */
  readonly pathPattern: readonly string[];
  /** Left out: any change. `undefined` is a value that is not there. */
  readonly when?: (old: unknown, next: unknown) => boolean;
}

const KEYS = 'Tokens are verified by other keys.';
const TRUST = 'A token is trusted for longer, or its claims are taken less exactly.';
const ASKED = 'Somebody else is asked about tokens, or asked in another way.';
const FORM = 'The parts of a form or the columns of a CSV must be something else, or may be anything.';
const NEW_FORM = 'The parts of a form or the columns of a CSV are looked at now.';
const CORS = 'Pages of other origins may do more.';
const OPERATORS = 'Operators are asked for another token or certificate, or for none.';
const SELF_TEST = 'A manifest must pass other tests before it is put in force, or none.';
const NO_CORS = 'Pages of other origins may do less.';

/** The first row that fits counts. What no row knows is told all the same. */
export const VALUE_RULES: readonly ValueRule[] = [
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'jwks'] },
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'discovery'] },
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'secret'] },
  rule('token-issuer', 'error', 'Tokens of another issuer are taken.', 'auth tokens * issuer'),
  rule('token-audience', 'error', 'Tokens for another audience are taken.', 'auth tokens * audience'),
  rule('token-algorithms', 'error', 'Tokens may be signed by another algorithm.', 'auth tokens * algorithms', hasAdded),
  rule('token-algorithms-fewer', 'info', 'Tokens may be signed by fewer algorithms.', 'auth tokens * algorithms'),
  rule('token-type', 'error', 'Tokens of another type are taken.', 'auth tokens * type'),
  rule('token-claims', 'error', 'Tokens are taken that lack a claim.', 'auth tokens * requiredClaims', hasRemoved),
  rule('token-claims-more', 'info', 'Tokens must have more claims.', 'auth tokens * requiredClaims'),
  rule('token-trust', 'warning', TRUST, 'auth tokens * clockTolerance', isLonger),
  rule('token-trust', 'warning', TRUST, 'auth tokens * staleIfError', isLonger),
  rule('token-trust', 'warning', TRUST, 'auth tokens * cache maxAge', isLonger),
  rule('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * clockTolerance'),
  rule('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * staleIfError'),
  rule('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * cache maxAge'),
  rule('token-limits', 'info', 'Verifying tokens takes other time or memory.', 'auth tokens * cache'),
  rule('token-limits', 'info', 'Verifying tokens takes other time or memory.', 'auth tokens * timeout'),
  rule('token-endpoint', 'error', ASKED, 'auth tokens'),
  rule('role-claim', 'error', 'The role is read from another claim, or in another form.', 'auth role claim'),
  rule('role-claim', 'error', 'The role is read from another claim, or in another form.', 'auth role array'),
  rule('role-message', 'info', 'Who is refused for a role is told something else.', 'auth role message'),
  rule('realm-changed', 'info', 'Challenges have another realm.', 'auth realm'),
  rule('upstream-settings', 'info', 'Exchanges with an upstream go on otherwise.', 'upstreams *'),
  rule('cors-widened', 'warning', CORS, 'cors', isWidened),
  rule('cors-narrowed', 'info', NO_CORS, 'cors'),
  rule('form-changed', 'warning', FORM, 'routes * body multipart', isPresent),
  rule('form-changed', 'warning', FORM, 'routes * body csv', isPresent),
  rule('form-added', 'info', NEW_FORM, 'routes * body multipart'),
  rule('form-added', 'info', NEW_FORM, 'routes * body csv'),
  rule('timeout-changed', 'info', 'Exchanges of a route may take another time.', 'routes * timeout'),
  rule('server-plain', 'error', 'Clients are served without TLS.', 'server tls', (_old, next) => next === undefined),
  rule('server-certificate', 'info', 'Clients are shown another certificate, or one for the first time.', 'server tls'),
  rule(
    'trusted-proxies-widened',
    'warning',
    'More proxies are believed what they say of a request.',
    'server trustedProxies',
    hasAdded,
  ),
  rule(
    'trusted-proxies-narrowed',
    'info',
    'Fewer proxies are believed what they say of a request.',
    'server trustedProxies',
  ),
  rule('server-stopping', 'info', 'Requests have another time to end when the process stops.', 'server stopping'),
  rule('server-limit-raised', 'warning', 'Clients may ask for more of the server.', 'server limits', isMore),
  rule('server-limits', 'info', 'Clients may ask for less of the server, or must be faster or slower.', 'server'),
  rule('self-test-changed', 'warning', SELF_TEST, 'reload selfTest'),
  rule('reload-changed', 'info', 'Connections go on for another time when a reload changes their route.', 'reload'),
  rule('log-changed', 'info', 'The log holds more or fewer requests.', 'log'),
  rule('tracing-changed', 'info', 'More or fewer traces are recorded.', 'tracing'),
  rule('lint-changed', 'info', 'Lint advises on other things.', 'lint'),
  rule('listen-changed', 'info', 'Clients are served at another address.', 'listen'),
  rule('admin-callers', 'warning', OPERATORS, 'admin token'),
  rule('admin-callers', 'warning', OPERATORS, 'admin tls clientCa'),
  rule('admin-opened', 'warning', "The operators' side is reached from other machines.", 'admin', isExposed),
  rule('admin-changed', 'info', "The operators' side is served otherwise, or no more.", 'admin'),
  rule('other-changed', 'warning', 'A value is another one, and what that means is not known here.', ''),
];

function rule(id: string, severity: Severity, description: string, at: string, when?: ValueRule['when']): ValueRule {
  return { id, severity, description, pathPattern: at.split(' ').filter(Boolean), ...(when && { when }) };
}

function hasAdded(old: unknown, next: unknown): boolean {
  return toList(next).some((item) => !toList(old).includes(item));
}

function hasRemoved(old: unknown, next: unknown): boolean {
  return hasAdded(next, old);
}

function isLonger(old: unknown, next: unknown): boolean {
  return durationMs(String(next)) > durationMs(String(old));
}

function isPresent(old: unknown): boolean {
  return old !== undefined;
}

/** A number, or a size. */
function isMore(old: unknown, next: unknown): boolean {
  return measureOf(next) > measureOf(old);
}

function measureOf(value: unknown): number {
  return typeof value === 'number' ? value : sizeBytes(String(value));
}

/** Whatever of it is not plainly less is more. */
function isWidened(old: unknown, next: unknown): boolean {
  if (Array.isArray(old) && Array.isArray(next)) return hasAdded(old, next);
  if (typeof next === 'boolean') return next;
  return next !== undefined && (old === undefined || typeof old !== 'string' || isLonger(old, next));
}

function isExposed(old: unknown, next: unknown): boolean {
  const listenOf = (admin: unknown) => (isMap(admin) ? admin['listen'] : admin);
  const isOpen = (admin: unknown) => {
    const listen = listenOf(admin);
    return typeof listen === 'string' && !isLoopback(parseAddress(listen).host);
  };
  return isOpen(next) && !isOpen(old);
}

function toList(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
