import { isLoopback } from '../../loopback.ts';
import { durationMs, sizeBytes } from '../../manifest/units.ts';
import { isMap } from '../../plan/schema/schema-walk.ts';
import { parseAddress } from '../../plan/settings/address.ts';
import type { Severity } from '../../problem/finding.ts';

/** A rule that classifies a changed value by its path in the manifest. */
export interface ValueRule {
  readonly id: string;
  readonly severity: Severity;
  readonly description: string;
  /** The keys from the root; `*` matches any key. The rule also applies to everything below. */
  readonly pathPattern: readonly string[];
  /** Restricts the rule to some changes; default: every change. `undefined` stands for a missing value. */
  readonly when?: (old: unknown, next: unknown) => boolean;
}

const KEYS = 'Tokens are verified with other keys.';
const TRUST = 'Tokens or keys are trusted for longer.';
const ENDPOINT = 'Another endpoint verifies tokens, or the gateway calls it with other settings.';
const FORM = 'The rules for the parts of a form or the columns of a CSV changed or were removed.';
const NEW_FORM = 'The gateway now validates the parts of a form or the columns of a CSV.';
const CORS = 'Pages of other origins have more access.';
const ADMIN = 'The admin API requires another token or client certificate, or none.';
const SELF_TEST = 'A manifest must pass other tests before it is activated, or none.';
const LESS_CORS = 'Pages of other origins have less access.';

/** The first rule that matches applies. The last one matches everything. */
export const VALUE_RULES: readonly ValueRule[] = [
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'jwks'] },
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'discovery'] },
  { id: 'token-keys', severity: 'error', description: KEYS, pathPattern: ['auth', 'tokens', 'jwt', 'secret'] },
  rule('token-issuer', 'error', 'Tokens of another issuer are accepted.', 'auth tokens * issuer'),
  rule('token-audience', 'error', 'Tokens for another audience are accepted.', 'auth tokens * audience'),
  rule('token-algorithms', 'error', 'Tokens may be signed by another algorithm.', 'auth tokens * algorithms', hasAdded),
  rule('token-algorithms-fewer', 'info', 'Tokens may be signed by fewer algorithms.', 'auth tokens * algorithms'),
  rule('token-type', 'error', 'Tokens of another type are accepted.', 'auth tokens * type'),
  rule('token-claims', 'error', 'Tokens that lack a claim are accepted.', 'auth tokens * requiredClaims', hasRemoved),
  rule('token-claims-more', 'info', 'Tokens must have more claims.', 'auth tokens * requiredClaims'),
  rule('token-trust', 'warning', TRUST, 'auth tokens * clockTolerance', isLonger),
  rule('token-trust', 'warning', TRUST, 'auth tokens * staleIfError', isLonger),
  rule('token-trust', 'warning', TRUST, 'auth tokens * cache maxAge', isLonger),
  rule('token-trust-less', 'info', 'Tokens or keys are trusted for less time.', 'auth tokens * clockTolerance'),
  rule('token-trust-less', 'info', 'Tokens or keys are trusted for less time.', 'auth tokens * staleIfError'),
  rule('token-trust-less', 'info', 'Tokens or keys are trusted for less time.', 'auth tokens * cache maxAge'),
  rule('token-limits', 'info', 'The timeout or the cache for verifying tokens changed.', 'auth tokens * cache'),
  rule('token-limits', 'info', 'The timeout or the cache for verifying tokens changed.', 'auth tokens * timeout'),
  rule('token-endpoint', 'error', ENDPOINT, 'auth tokens'),
  rule('role-claim', 'error', 'The role is read from another claim, or in another format.', 'auth role claim'),
  rule('role-claim', 'error', 'The role is read from another claim, or in another format.', 'auth role array'),
  rule('role-message', 'info', 'Clients whose role is refused receive another message.', 'auth role message'),
  rule('realm-changed', 'info', 'The realm in WWW-Authenticate changed.', 'auth realm'),
  rule('upstream-settings', 'info', 'The settings of an upstream changed.', 'upstreams *'),
  rule('cors-widened', 'warning', CORS, 'cors', isWidened),
  rule('cors-narrowed', 'info', LESS_CORS, 'cors'),
  rule('form-changed', 'warning', FORM, 'routes * body multipart', isPresent),
  rule('form-changed', 'warning', FORM, 'routes * body csv', isPresent),
  rule('form-added', 'info', NEW_FORM, 'routes * body multipart'),
  rule('form-added', 'info', NEW_FORM, 'routes * body csv'),
  rule('timeout-changed', 'info', 'The timeout of a route changed.', 'routes * timeout'),
  rule('server-plain', 'error', 'Clients connect without TLS.', 'server tls', (_old, next) => next === undefined),
  rule('server-certificate', 'info', 'Clients receive another certificate, or TLS is new.', 'server tls'),
  rule(
    'trusted-proxies-widened',
    'warning',
    'The gateway trusts the forwarding headers of more peers.',
    'server trustedProxies',
    hasAdded,
  ),
  rule(
    'trusted-proxies-narrowed',
    'info',
    'The gateway trusts the forwarding headers of fewer peers.',
    'server trustedProxies',
  ),
  rule(
    'server-stopping',
    'info',
    'Requests have a different time to finish when the process stops.',
    'server stopping',
  ),
  rule('server-limit-raised', 'warning', 'Clients may use more resources of the server.', 'server limits', isMore),
  rule('server-limits', 'info', 'Clients may use fewer resources of the server, or have different timeouts.', 'server'),
  rule('self-test-changed', 'warning', SELF_TEST, 'reload selfTest'),
  rule(
    'reload-changed',
    'info',
    'Connections have a different time to finish after a reload changes their route.',
    'reload',
  ),
  rule('log-changed', 'info', 'The log contains more or fewer requests.', 'log'),
  rule('tracing-changed', 'info', 'The gateway records more or fewer traces.', 'tracing'),
  rule('lint-changed', 'info', 'Other lint rules are enabled.', 'lint'),
  rule('listen-changed', 'info', 'The gateway listens on another address.', 'listen'),
  rule('admin-callers', 'warning', ADMIN, 'admin token'),
  rule('admin-callers', 'warning', ADMIN, 'admin tls clientCa'),
  rule('admin-opened', 'warning', 'Other machines can reach the admin API.', 'admin', isExposed),
  rule('admin-changed', 'info', 'The admin API changed or was removed.', 'admin'),
  rule('other-changed', 'warning', 'A value changed that no other kind covers.', ''),
];

function rule(id: string, severity: Severity, description: string, path: string, when?: ValueRule['when']): ValueRule {
  return { id, severity, description, pathPattern: path.split(' ').filter(Boolean), ...(when && { when }) };
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

/** True if a number or a size grew. */
function isMore(old: unknown, next: unknown): boolean {
  return measureOf(next) > measureOf(old);
}

function measureOf(value: unknown): number {
  return typeof value === 'number' ? value : sizeBytes(String(value));
}

/** True unless the change clearly reduces access. */
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
