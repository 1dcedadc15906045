import { isProtectedInTransit } from '../../../engine/dns/loopback.ts';
import { durationMs } from '../../../engine/manifest/units.ts';
import { guardEntries, tokenEntries } from '../../../engine/tokens/token-entries.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

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
    at: ['issuers'],
    route: ({ route }) => {
      const claims = route.claims?.headers.map(({ claim }) => claim) ?? [];
      const isMixed = (route.auth?.issuers?.size ?? 1) > 1 && claims.includes('/sub') && !claims.includes('/iss');
      return isMixed && 'the upstream gets "sub" of several issuers; forward "/iss" in another header too';
    },
  },
  'token-algorithms-mixed': {
    level: ['warning', 'recommended'],
    rationale:
      'An issuer usually signs with one type of key, and every further type that the gateway accepts can be broken or confused with another (RFC 8725 section 3.1).',
    *find({ manifest }) {
      for (const { kind, entry, path } of tokenEntries(manifest.auth)) {
        if (kind !== 'jwt') continue;
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
    at: ['cache', 'maxAge'],
    token: ({ entry: { cache } }) =>
      durationMs(cache.maxAge) > 60_000 && `a blocked user keeps access for up to ${cache.maxAge}; write 60s or less`,
  },
  'token-clock-tolerance-long': {
    level: ['warning', 'recommended'],
    rationale:
      'The gateway accepts every token for this long after it expires; clocks that NTP synchronizes differ by less than a second.',
    at: ['clockTolerance'],
    token: ({ entry: { clockTolerance } }) =>
      durationMs(clockTolerance) > 60_000 &&
      `every token stays valid for ${clockTolerance} after it expires; write 60s or less, and synchronize the clocks`,
  },
  'token-issuer-elsewhere': {
    level: ['info', 'recommended'],
    rationale:
      'The metadata must name exactly the configured issuer (RFC 8414 section 3.3); if the two addresses differ it usually does not, and then no token is valid.',
    at: ['issuer'],
    jwt: ({ entry: { issuer, discovery }, path }, { secrets }) => {
      if (discovery === undefined || withoutSlash(discovery) === withoutSlash(issuer)) return false;
      const isSecret = ['issuer', 'discovery'].some((key) => secrets.isSecret([...path, key]));
      const addresses = isSecret ? '' : ` ("${issuer}" and "${discovery}")`;
      return `"issuer" and "discovery" are different addresses${addresses}; make sure that the metadata names this issuer`;
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
    at: ['secret'],
    jwt: ({ entry }) =>
      entry.secret !== undefined &&
      'anyone who knows this secret can create tokens; let the issuer sign with a private key, and write jwks: or discovery:',
  },
  'token-stale-long': {
    level: ['warning', 'recommended'],
    rationale:
      'While the issuer is unavailable the gateway cannot see revocations, so an attacker who blocks the issuer keeps revoked access.',
    at: ['staleIfError'],
    token: ({ entry: { staleIfError }, kind }) => {
      // Keys rarely change, and a stale key still verifies only the tokens that it signed.
      const limit = kind === 'jwt' ? '24h' : '5m';
      const effect = `while the issuer is unavailable, revocations have no effect for up to ${staleIfError}`;
      return durationMs(staleIfError) > durationMs(limit) && `${effect}; write ${limit} or less`;
    },
  },
  'token-subject-optional': {
    level: ['info', 'strict'],
    rationale: 'A token without "sub" identifies no user, so the log cannot group requests by user.',
    atKey: [],
    token: ({ entry }) =>
      !entry.requiredClaims.includes('sub') && 'tokens without a subject are accepted; add requiredClaims: [sub]',
  },
  'token-type-unchecked': {
    level: ['info', 'strict'],
    rationale:
      'Without "type" the gateway accepts an ID token, which pages can read, as an access token if issuer and audience match (RFC 8725 section 3.11).',
    atKey: [],
    jwt: ({ entry }) =>
      entry.type === undefined &&
      'tokens of every type are accepted; add type: at+jwt if the issuer sets it (RFC 9068)',
  },
  'token-without-audience': {
    level: ['warning', 'minimal'],
    rationale:
      'The gateway also accepts tokens that the issuer created for another service, so that service can impersonate its users here.',
    atKey: [],
    token: ({ kind, entry }) =>
      kind === 'introspection' &&
      entry.audience === undefined &&
      'tokens for any service are accepted; add audience: with the name of this service at the issuer',
  },
});

function keyTypeOf(algorithm: string): string {
  return algorithm.slice(0, 2);
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}
