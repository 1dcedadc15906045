import { isProtectedInTransit } from '../../../engine/dns/loopback.ts';
import type { Manifest } from '../../../engine/manifest/manifest.generated.ts';
import { durationMs } from '../../../engine/manifest/units.ts';
import { guardEntries, tokenEntries } from '../../../engine/tokens/token-entries.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

/** Keys rarely change, and a stale key still verifies only the tokens that it signed. */
const MAX_STALE_KEYS_MS = 24 * 3_600_000;
const MAX_STALE_TOKENS_MS = 300_000;

export const TOKEN_RULES = rulesOf('auth', {
  'auth-unused': {
    level: ['warning', 'recommended'],
    rationale:
      'The manifest configures tokens that no route requires: either a route lacks protection, or the configuration is dead.',
    *find({ manifest, routes }) {
      if (manifest.auth === undefined || routes.some(({ route }) => route.auth !== undefined)) return;
      yield findingAtKey(['auth'], 'no route is protected and none has "login"; protect one, or remove "auth"');
    },
  },
  'issuer-unused': {
    level: ['warning', 'recommended'],
    rationale: 'No route accepts the tokens of this method: either a route lacks "issuers", or the method is dead.',
    *find({ manifest, routes }) {
      const methods = tokenEntries(manifest.auth);
      const used = new Set(routes.flatMap(({ entry }) => guardEntries(methods, entry)));
      for (const method of methods.slice(1))
        if (!used.has(method))
          yield findingAtKey(
            method.path,
            `no route accepts these tokens; add issuers: [${method.name}] to one, or remove it`,
          );
    },
  },
  'subject-without-issuer': {
    level: ['warning', 'recommended'],
    rationale:
      'Two issuers may give the same subject to different users, and the upstream cannot tell them apart by "sub" alone.',
    *find({ routes }) {
      for (const { route, path } of routes) {
        const claims = route.claims?.headers.map(({ claim }) => claim) ?? [];
        if ((route.auth?.issuers?.size ?? 1) < 2 || !claims.includes('/sub') || claims.includes('/iss')) continue;
        const message = 'the upstream gets "sub" of several issuers; forward "/iss" in another header too';
        yield findingAt([...path, 'issuers'], message);
      }
    },
  },
  'token-algorithms-mixed': {
    level: ['warning', 'recommended'],
    rationale:
      'An issuer usually signs with one type of key, and every further type that the gateway accepts can be broken or confused with another (RFC 8725 section 3.1).',
    *find({ manifest }) {
      for (const { entry, path } of jwtsOf(manifest)) {
        const { algorithms } = entry;
        const index = algorithms.findIndex((algorithm) => keyTypeOf(algorithm) !== keyTypeOf(algorithms[0] ?? ''));
        if (index < 0) continue;
        const message = `"${algorithms[index]}" and "${algorithms[0]}" use different types of keys; keep only the algorithms that the issuer signs with`;
        yield findingAt([...path, 'algorithms', index], message);
      }
    },
  },
  'token-cache-long': {
    level: ['warning', 'recommended'],
    rationale: 'A user who was blocked, or who lost a role, keeps access for this long.',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth)) {
        const { maxAge } = entry.cache;
        if (durationMs(maxAge) <= 60_000) continue;
        const message = `a blocked user keeps access for up to ${maxAge}; write 60s or less`;
        yield findingAt([...path, 'cache', 'maxAge'], message);
      }
    },
  },
  'token-clock-tolerance-long': {
    level: ['warning', 'recommended'],
    rationale:
      'The gateway accepts every token for this long after it expires; clocks that NTP synchronizes differ by less than a second.',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth)) {
        if (durationMs(entry.clockTolerance) <= 60_000) continue;
        const message = `every token stays valid for ${entry.clockTolerance} after it expires; write 60s or less, and synchronize the clocks`;
        yield findingAt([...path, 'clockTolerance'], message);
      }
    },
  },
  'token-issuer-elsewhere': {
    level: ['info', 'recommended'],
    rationale:
      'The metadata must name exactly the configured issuer (RFC 8414 section 3.3); if the two addresses differ it usually does not, and then no token is valid.',
    *find({ manifest, secrets }) {
      for (const { entry, path } of jwtsOf(manifest)) {
        const { discovery, issuer } = entry;
        if (discovery === undefined || withoutSlash(discovery) === withoutSlash(issuer)) continue;
        const isSecret = [
          [...path, 'issuer'],
          [...path, 'discovery'],
        ].some(secrets.isSecret);
        const addresses = isSecret ? '' : ` ("${issuer}" and "${discovery}")`;
        const message = `"issuer" and "discovery" are different addresses${addresses}; make sure that the metadata names this issuer`;
        yield findingAt([...path, 'issuer'], message);
      }
    },
  },
  'token-keys-plain': {
    level: ['warning', 'minimal'],
    rationale:
      'Over plain HTTP an attacker on the network path can respond instead of the issuer, with other keys, and impersonate any user.',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth)) {
        const key = 'endpoint' in entry ? 'endpoint' : 'jwks';
        const text: unknown = 'endpoint' in entry ? entry.endpoint : entry.jwks;
        const url = typeof text === 'string' && /^https?:/i.test(text) ? URL.parse(text) : null;
        if (url === null || isProtectedInTransit(url)) continue;
        const message = 'an attacker on the network can change what the issuer sends over plain HTTP; write https://';
        yield findingAt([...path, key], message);
      }
    },
  },
  'token-secret-shared': {
    level: ['warning', 'recommended'],
    rationale:
      'Anyone who can verify tokens with a shared secret can also sign them, so access to the environment of the gateway allows an attacker to impersonate any user.',
    *find({ manifest }) {
      const message =
        'anyone who knows this secret can create tokens; let the issuer sign with a private key, and write jwks: or discovery:';
      for (const { entry, path } of jwtsOf(manifest))
        if (entry.secret !== undefined) yield findingAt([...path, 'secret'], message);
    },
  },
  'token-stale-long': {
    level: ['warning', 'recommended'],
    rationale:
      'While the issuer is unavailable the gateway cannot see revocations, so an attacker who blocks the issuer keeps revoked access.',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth)) {
        const isKeys = path.at(-1) === 'jwt';
        if (durationMs(entry.staleIfError) <= (isKeys ? MAX_STALE_KEYS_MS : MAX_STALE_TOKENS_MS)) continue;
        const message = `while the issuer is unavailable, revocations have no effect for up to ${entry.staleIfError}; write ${isKeys ? '24h' : '5m'} or less`;
        yield findingAt([...path, 'staleIfError'], message);
      }
    },
  },
  'token-subject-optional': {
    level: ['info', 'strict'],
    rationale: 'A token without "sub" identifies no user, so the log cannot group requests by user.',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth))
        if (!entry.requiredClaims.includes('sub'))
          yield findingAtKey(path, 'tokens without a subject are accepted; add requiredClaims: [sub]');
    },
  },
  'token-type-unchecked': {
    level: ['info', 'strict'],
    rationale:
      'Without "type" the gateway accepts an ID token, which pages can read, as an access token if issuer and audience match (RFC 8725 section 3.11).',
    *find({ manifest }) {
      const message = 'tokens of every type are accepted; add type: at+jwt if the issuer sets it (RFC 9068)';
      for (const { entry, path } of jwtsOf(manifest)) if (entry.type === undefined) yield findingAtKey(path, message);
    },
  },
  'token-without-audience': {
    level: ['warning', 'minimal'],
    rationale:
      'The gateway also accepts tokens that the issuer created for another service, so that service can impersonate its users here.',
    *find({ manifest }) {
      const message = 'tokens for any service are accepted; add audience: with the name of this service at the issuer';
      for (const { kind, entry, path } of tokenEntries(manifest.auth))
        if (kind === 'introspection' && entry.audience === undefined) yield findingAtKey(path, message);
    },
  },
});

function jwtsOf({ auth }: Manifest) {
  return tokenEntries(auth).filter((method) => method.kind === 'jwt');
}

function keyTypeOf(algorithm: string): string {
  return algorithm.slice(0, 2);
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}
