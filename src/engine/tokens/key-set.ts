import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { isMap } from '../schema/schema-walk.ts';
import type { TokenClaims } from './claims.ts';

/** The keys that verify tokens. */
export interface VerificationKeySet {
  /** Equal for equal keys. */
  readonly fingerprint: string;
  readonly isEmpty: boolean;
  /** The keys as plain data, which another thread can receive. */
  readonly keys: readonly KeyWithId[];
  /** Returns the keys with this id that support the algorithm; without an id, all that support it. */
  readonly findKeys: (keyId: string | undefined, algorithm: string) => readonly KeyObject[];
}

/** A verification key that cannot be used, and the reason. */
interface RejectedKey {
  readonly index: number;
  readonly reason: string;
}

export interface KeyWithId {
  readonly keyId: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** A token without a key id is verified with all keys in turn. */
export const MAX_KEYS = 100;

/** Returns the shared secret of HMAC (RFC 7518 section 3.2) as the one key for every key id. */
export function secretKeySet(secret: string): VerificationKeySet {
  const keys = [createSecretKey(secret, 'utf8')];
  return { fingerprint: '', isEmpty: false, keys: [], findKeys: () => keys };
}

/**
 * Reads a JWKS (RFC 7517 section 5). Ignores keys for another use or another algorithm. Rejects keys that are weak, malformed
 * or private, or share their id with another key.
 *
 * @throws Error if the value is not a JWKS
 */
export function readKeySet(
  value: unknown,
  algorithms: readonly string[],
): { keys: VerificationKeySet; rejected: RejectedKey[] } {
  const jwks = isMap(value) ? value['keys'] : undefined;
  if (!Array.isArray(jwks)) throw new Error('it is not a JWKS, which is an object with a list "keys"');
  if (jwks.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`);
  const rejected: RejectedKey[] = [];
  const candidates: KeyWithId[] = [];
  for (const [index, jwk] of jwks.entries()) {
    const key = readKey(jwk, algorithms);
    if (typeof key === 'string') rejected.push({ index, reason: key });
    if (typeof key !== 'object') continue;
    if (hasAmbiguousKeyId(key, candidates)) rejected.push({ index, reason: 'has the "kid" of another key' });
    candidates.push(key);
  }
  const usable = candidates.filter((key) => !hasAmbiguousKeyId(key, candidates));
  return { keys: createKeySet(usable), rejected };
}

export function createKeySet(keys: readonly KeyWithId[]): VerificationKeySet {
  const findKeys: VerificationKeySet['findKeys'] = (keyId, algorithm) =>
    keys
      .filter((key) => (keyId === undefined || key.keyId === keyId) && key.algorithms.includes(algorithm))
      .map(({ key }) => key);
  return { fingerprint: keys.map(keyFingerprint).sort().join(), isEmpty: keys.length === 0, keys, findKeys };
}

/** Returns a key, the reason for which it is rejected, or `undefined` for a key with another purpose. */
function readKey(jwk: unknown, allowed: readonly string[]): KeyWithId | string | undefined {
  if (!isMap(jwk)) return 'is not a map';
  const { kid: keyId, use, key_ops: operations } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  const algorithms = allowed.filter((algorithm) => supportsAlgorithm(jwk, algorithm));
  if (algorithms.length === 0) return undefined;
  if (Object.hasOwn(jwk, 'd')) return 'is a private key; write its public members only';
  if (keyId !== undefined && typeof keyId !== 'string') return 'has a "kid" that is not a string';
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return weakness(key) ?? { keyId, algorithms, key };
  } catch {
    return 'is malformed';
  }
}

/** The key type and curve of each algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). */
const KEY_TYPES: Readonly<Record<string, readonly [kty: string, crv?: string]>> = {
  ES256: ['EC', 'P-256'],
  ES384: ['EC', 'P-384'],
  ES512: ['EC', 'P-521'],
  RS256: ['RSA'],
  RS384: ['RSA'],
  RS512: ['RSA'],
  PS256: ['RSA'],
  PS384: ['RSA'],
  PS512: ['RSA'],
  EdDSA: ['OKP', 'Ed25519'],
  Ed25519: ['OKP', 'Ed25519'],
};

function supportsAlgorithm({ kty, crv, alg }: TokenClaims, algorithm: string): boolean {
  const type = KEY_TYPES[algorithm];
  if (type === undefined || kty !== type[0] || (type[1] !== undefined && crv !== type[1])) return false;
  return alg === undefined || alg === algorithm;
}

/** RFC 7518 section 3.3 requires 2048 bits; with an exponent of 1 anyone could sign. */
function weakness({ asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 2048, publicExponent = 3n } = asymmetricKeyDetails ?? {};
  if (modulusLength < 2048) return 'has fewer than 2048 bits';
  return publicExponent < 3n || publicExponent % 2n === 0n ? 'has an insecure public exponent' : undefined;
}

/** An id that two keys of one type share identifies neither. */
function hasAmbiguousKeyId({ keyId, key }: KeyWithId, others: readonly KeyWithId[]): boolean {
  const isTwin = (other: KeyWithId) => other.keyId === keyId && other.key.asymmetricKeyType === key.asymmetricKeyType;
  return keyId !== undefined && others.some((other) => isTwin(other) && !other.key.equals(key));
}

function keyFingerprint({ keyId, algorithms, key }: KeyWithId): string {
  return JSON.stringify([keyId ?? null, algorithms, key.export({ format: 'jwk' })]);
}
