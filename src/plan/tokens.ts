import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Jwt } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { durationMs } from '../manifest/units.ts';
import { type KeySource, localKeys, readKeySet, remoteKeys } from './jwks.ts';
import type { Principal, TokenFault, Verdict, Verifier } from './plan.ts';
import { parseStrictJson } from './strict-json.ts';

const MAX_TOKEN_LENGTH = 8192;
const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** A verified token is looked at again after this long: its key may have been withdrawn. */
const TRUSTED_MS = 600_000;
const CACHED_TOKENS = 20_000;
/** Characters of token text that the cache holds at most. */
const CACHED_CHARACTERS = 32 * 1024 * 1024;

/**
 * Makes the verifier of signed JWTs (RFC 7519, RFC 8725): algorithms pinned, `iss`, `aud` and `exp`
 * required. Throws with a reason when the key file cannot be used.
 */
export function createJwtVerifier(jwt: Jwt, readFile: World['readFile'], previous: Verifier | undefined): Verifier {
  const isRemote = /^https?:\/\//.test(jwt.jwks);
  const file = isRemote ? undefined : readFile(jwt.jwks);
  const key = JSON.stringify([jwt, file]);
  if (previous?.key === key) return previous;
  const source = file === undefined ? remoteKeys(jwt.jwks) : localKeys(readKeySet(JSON.parse(file)));
  const toleranceMs = durationMs(jwt.clockTolerance);
  const options: JWTVerifyOptions = {
    algorithms: jwt.algorithms,
    issuer: jwt.issuer,
    audience: jwt.audience,
    requiredClaims: ['exp'],
    clockTolerance: toleranceMs / 1000,
  };
  const cache = new LRUCache<string, Principal>({
    max: CACHED_TOKENS,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: (_principal, token) => token.length,
  });
  let cachedFor: JSONWebKeySet | undefined;

  const learn = (token: string, claims: JWTPayload, keys: JSONWebKeySet): Verdict => {
    const expiresAt = Math.min((claims.exp ?? 0) * 1000 + toleranceMs, Date.now() + TRUSTED_MS);
    const principal = { claims, expiresAt };
    // A token that was good by keys that are gone is not remembered as good.
    if (cachedFor !== keys) cache.clear();
    cachedFor = keys;
    cache.set(token, principal);
    return { principal };
  };

  return {
    key,
    cached: (token) => {
      const principal = cache.get(token);
      return principal !== undefined && principal.expiresAt > Date.now() ? principal : undefined;
    },
    verify: async (token) => {
      if (!hasOneReading(token)) return { fault: 'token_malformed' };
      try {
        const { claims, keys } = await verifyWith(source, token, options);
        const isEarly = claims.iat !== undefined && claims.iat * 1000 > Date.now() + toleranceMs;
        return isEarly ? { fault: 'token_not_yet_valid' } : learn(token, claims, keys);
      } catch (error) {
        return { fault: toFault(error) };
      }
    },
  };
}

/** Three parts of base64url, whose header and payload are JSON that every parser reads the same way. */
function hasOneReading(token: string): boolean {
  if (token.length > MAX_TOKEN_LENGTH || !FORM.test(token)) return false;
  const [header, payload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => parseStrictJson(Buffer.from(part, 'base64url')));
  if (header === undefined || payload === undefined || 'fault' in header || 'fault' in payload) return false;
  return !isExtended(header.value);
}

/** No critical extension is understood here (RFC 7515 section 4.1.11), and no other encoding of the payload (RFC 7797). */
function isExtended(header: unknown): boolean {
  return header === null || typeof header !== 'object' || 'crit' in header || 'b64' in header;
}

class KeysUnavailable extends Error {}

async function verifyWith(
  source: KeySource,
  token: string,
  options: JWTVerifyOptions,
): Promise<{ claims: JWTPayload; keys: JSONWebKeySet }> {
  const keys = await source.current();
  if (keys === undefined) throw new KeysUnavailable();
  try {
    return { claims: await verifyByKeySet(keys, token, options), keys };
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    const newer = await source.newer(keys);
    if (newer === undefined) throw error;
    return { claims: await verifyByKeySet(newer, token, options), keys: newer };
  }
}

async function verifyByKeySet(keys: JSONWebKeySet, token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keyFinder(keys), options)).payload;
  } catch (error) {
    // A token that names no key is tried with each that fits its algorithm.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (inner) {
        if (!(inner instanceof errors.JWSSignatureVerificationFailed)) throw inner;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

type KeyFinder = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

const finders = new WeakMap<JSONWebKeySet, KeyFinder>();

/** Imported keys are kept as long as their set: importing one costs as much as verifying a token. */
function keyFinder(keys: JSONWebKeySet): KeyFinder {
  const known = finders.get(keys);
  if (known !== undefined) return known;
  const finder = createLocalJWKSet(keys);
  finders.set(keys, finder);
  return finder;
}

function toFault(error: unknown): TokenFault {
  if (error instanceof KeysUnavailable) return 'keys_unavailable';
  if (error instanceof errors.JWTExpired) return 'token_expired';
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_FAULTS[error.claim] ?? 'claims_wrong';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm_not_allowed';
  if (error instanceof errors.JWKSNoMatchingKey) return 'key_unknown';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature_wrong';
  // Whatever else the library or the platform's cryptography refuses: closed.
  return 'token_malformed';
}

const CLAIM_FAULTS: Readonly<Record<string, TokenFault>> = {
  iss: 'issuer_wrong',
  aud: 'audience_wrong',
  nbf: 'token_not_yet_valid',
};
