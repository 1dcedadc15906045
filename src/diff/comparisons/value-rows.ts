import { durationMs, sizeBytes } from '../../manifest/units.ts';
import { isMap } from '../../plan/schema-walk.ts';
import type { Severity } from '../../problem/finding.ts';

/** What a value of the manifest has become means, by where it stands. */
export interface ValueRow {
  readonly id: string;
  readonly severity: Severity;
  readonly what: string;
  /** The keys on the way to it; `*` is any, and what is below belongs to it. */
  readonly at: readonly string[];
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
export const VALUE_ROWS: readonly ValueRow[] = [
  { id: 'token-keys', severity: 'error', what: KEYS, at: ['auth', 'tokens', 'jwt', 'jwks'] },
  { id: 'token-keys', severity: 'error', what: KEYS, at: ['auth', 'tokens', 'jwt', 'discovery'] },
  { id: 'token-keys', severity: 'error', what: KEYS, at: ['auth', 'tokens', 'jwt', 'secret'] },
  row('token-issuer', 'error', 'Tokens of another issuer are taken.', 'auth tokens * issuer'),
  row('token-audience', 'error', 'Tokens for another audience are taken.', 'auth tokens * audience'),
  row('token-algorithms', 'error', 'Tokens may be signed by another algorithm.', 'auth tokens * algorithms', grew),
  row('token-algorithms-fewer', 'info', 'Tokens may be signed by fewer algorithms.', 'auth tokens * algorithms'),
  row('token-type', 'error', 'Tokens of another type are taken.', 'auth tokens * type'),
  row('token-claims', 'error', 'Tokens are taken that lack a claim.', 'auth tokens * requiredClaims', shrank),
  row('token-claims-more', 'info', 'Tokens must have more claims.', 'auth tokens * requiredClaims'),
  row('token-trust', 'warning', TRUST, 'auth tokens * clockTolerance', raised),
  row('token-trust', 'warning', TRUST, 'auth tokens * staleIfError', raised),
  row('token-trust', 'warning', TRUST, 'auth tokens * cache maxAge', raised),
  row('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * clockTolerance'),
  row('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * staleIfError'),
  row('token-trust-less', 'info', 'A token is trusted less.', 'auth tokens * cache maxAge'),
  row('token-limits', 'info', 'Verifying tokens takes other time or memory.', 'auth tokens * cache'),
  row('token-limits', 'info', 'Verifying tokens takes other time or memory.', 'auth tokens * timeout'),
  row('token-endpoint', 'error', ASKED, 'auth tokens'),
  row('role-claim', 'error', 'The role is read from another claim, or in another form.', 'auth role claim'),
  row('role-claim', 'error', 'The role is read from another claim, or in another form.', 'auth role array'),
  row('role-message', 'info', 'Who is refused for a role is told something else.', 'auth role message'),
  row('realm-changed', 'info', 'Challenges have another realm.', 'auth realm'),
  row('upstream-passage', 'info', 'Exchanges with an upstream go on otherwise.', 'upstreams *'),
  row('cors-widened', 'warning', CORS, 'cors', widened),
  row('cors-narrowed', 'info', NO_CORS, 'cors'),
  row('form-changed', 'warning', FORM, 'routes * body multipart', isChange),
  row('form-changed', 'warning', FORM, 'routes * body csv', isChange),
  row('form-added', 'info', NEW_FORM, 'routes * body multipart'),
  row('form-added', 'info', NEW_FORM, 'routes * body csv'),
  row('timeout-changed', 'info', 'Exchanges of a route may take another time.', 'routes * timeout'),
  row('server-plain', 'error', 'Clients are served without TLS.', 'server tls', (_old, next) => next === undefined),
  row('server-certificate', 'info', 'Clients are shown another certificate, or one for the first time.', 'server tls'),
  row(
    'proxies-widened',
    'warning',
    'More proxies are believed what they say of a request.',
    'server trustedProxies',
    grew,
  ),
  row('proxies-narrowed', 'info', 'Fewer proxies are believed what they say of a request.', 'server trustedProxies'),
  row('server-stopping', 'info', 'Requests have another time to end when the process stops.', 'server stopping'),
  row('server-limit-raised', 'warning', 'Clients may ask for more of the server.', 'server limits', isMore),
  row('server-limits', 'info', 'Clients may ask for less of the server, or must be faster or slower.', 'server'),
  row('self-test-changed', 'warning', SELF_TEST, 'reload selfTest'),
  row('reload-changed', 'info', 'Connections go on for another time when a reload changes their route.', 'reload'),
  row('log-changed', 'info', 'The log holds more or fewer requests.', 'log'),
  row('tracing-changed', 'info', 'More or fewer traces are recorded.', 'tracing'),
  row('lint-changed', 'info', 'Lint advises on other things.', 'lint'),
  row('listen-changed', 'info', 'Clients are served at another address.', 'listen'),
  row('admin-callers', 'warning', OPERATORS, 'admin token'),
  row('admin-callers', 'warning', OPERATORS, 'admin tls clientCa'),
  row('admin-opened', 'warning', "The operators' side is reached from other machines.", 'admin', opened),
  row('admin-changed', 'info', "The operators' side is served otherwise, or no more.", 'admin'),
  row('other-changed', 'warning', 'A value is another one, and what that means is not known here.', ''),
];

function row(id: string, severity: Severity, what: string, at: string, when?: ValueRow['when']): ValueRow {
  return { id, severity, what, at: at.split(' ').filter(Boolean), ...(when && { when }) };
}

function grew(old: unknown, next: unknown): boolean {
  return listOf(next).some((item) => !listOf(old).includes(item));
}

function shrank(old: unknown, next: unknown): boolean {
  return grew(next, old);
}

function raised(old: unknown, next: unknown): boolean {
  return durationMs(String(next)) > durationMs(String(old));
}

function isChange(old: unknown): boolean {
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
function widened(old: unknown, next: unknown): boolean {
  if (Array.isArray(old) && Array.isArray(next)) return grew(old, next);
  if (typeof next === 'boolean') return next;
  return next !== undefined && (old === undefined || typeof old !== 'string' || raised(old, next));
}

/** An address that only this machine reaches (RFC 1122 section 3.2.1.3). */
const LOOPBACK = /^(?:127\.|\[::1\]|localhost:)/;

function opened(old: unknown, next: unknown): boolean {
  const listenOf = (admin: unknown) => (isMap(admin) ? admin['listen'] : admin);
  const isOpen = (admin: unknown) => typeof listenOf(admin) === 'string' && !LOOPBACK.test(String(listenOf(admin)));
  return isOpen(next) && !isOpen(old);
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
