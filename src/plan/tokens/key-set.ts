import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { isJsonObject, type TokenClaims } from './claims.ts';

/** Keys that tokens may be signed by. */
export interface VerificationKeySet {
  /** Equal for equal keys. */
  readonly fingerprint: string;
  readonly isEmpty: boolean;
  /** The keys of this name, or all where a token names none, that this algorithm takes. */
  readonly findKeys: (name: string | undefined, algorithm: string) => readonly KeyObject[];
}

/** Why a key may not be used, though it seems to be meant for this. */
export interface RejectedKey {
  readonly index: number;
  readonly reason: string;
}

interface KeyWithId {
  readonly keyId: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** A token that names no key is tried with all of them. */
const MAX_KEYS = 100;

/** The shared secret of HMAC (RFC 7518 section 3.2): one key, whatever a token calls it. */
export function secretKeySet(secret: string): VerificationKeySet {
  const keys = [createSecretKey(secret, 'utf8')];
  return { fingerprint: '', isEmpty: false, findKeys: () => keys };
}

/**
 * Reads a JWKS (RFC 7517 section 5). A key for another use or another algorithm is passed over; one that is
 * weak, broken, private or shares its name with another is not used, and told of.
 *
 * @throws Error when it is no JWKS at all
 */
export function readKeySet(
  value: unknown,
  algorithms: readonly string[],
): { keys: VerificationKeySet; faults: RejectedKey[] } {
  const jwks = isJsonObject(value) ? value['keys'] : undefined;
  if (!Array.isArray(jwks)) throw new Error('it is no JWKS: an object with a list "keys"');
  if (jwks.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`);
  const faults: RejectedKey[] = [];
  const found: KeyWithId[] = [];
  for (const [index, jwk] of jwks.entries()) {
    const key = readKey(jwk, algorithms);
    const reason = typeof key === 'string' ? key : key && keyIdConflict(key, found);
    if (reason !== undefined) faults.push({ index, reason });
    if (typeof key === 'object') found.push(key);
  }
  const usable = found.filter((key) => !hasAmbiguousKeyId(key, found));
  const fingerprint = usable.map(keyFingerprint).sort().join();
  const findKeys: VerificationKeySet['findKeys'] = (name, algorithm) =>
    usable
      .filter((key) => (name === undefined || key.keyId === name) && key.algorithms.includes(algorithm))
      .map(({ key }) => key);
  return { keys: { fingerprint, isEmpty: usable.length === 0, findKeys }, faults };
}

/** A key, why it must not be used, or `undefined` for one that is not meant for this. */
function readKey(jwk: unknown, allowed: readonly string[]): KeyWithId | string | undefined {
  if (!isJsonObject(jwk)) return 'is no map';
  const { kid: keyId, use, key_ops: operations } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  const algorithms = allowed.filter((algorithm) => supportsAlgorithm(jwk, algorithm));
  if (algorithms.length === 0) return undefined;
  if (Object.hasOwn(jwk, 'd')) return 'is a private key; write its public members only';
  if (keyId !== undefined && typeof keyId !== 'string') return 'has a "kid" that is no string';
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return weakness(key) ?? { keyId, algorithms, key };
  } catch {
    return 'is broken';
  }
}

/** What each algorithm is computed with (RFC 7518 section 3.1, RFC 8037 section 3.1). */
const KINDS: Readonly<Record<string, readonly [kty: string, crv?: string]>> = {
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
  const kind = KINDS[algorithm];
  if (kind === undefined || kty !== kind[0] || (kind[1] !== undefined && crv !== kind[1])) return false;
  return alg === undefined || alg === algorithm;
}

/** RFC 7518 section 3.3 asks for 2048 bits; with an exponent of 1 anybody could sign. */
function weakness({ asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 2048, publicExponent = 3n } = asymmetricKeyDetails ?? {};
  if (modulusLength < 2048) return 'has fewer than 2048 bits';
  return publicExponent < 3n || publicExponent % 2n === 0n ? 'has a public exponent that proves nothing' : undefined;
}

function keyIdConflict(key: KeyWithId, others: readonly KeyWithId[]): string | undefined {
  return hasAmbiguousKeyId(key, others) ? 'has the "kid" of another key' : undefined;
}

/** A name that stands for two keys of one kind names none of them. */
function hasAmbiguousKeyId({ keyId, key }: KeyWithId, others: readonly KeyWithId[]): boolean {
  const isTwin = (other: KeyWithId) => other.keyId === keyId && other.key.asymmetricKeyType === key.asymmetricKeyType;
  return keyId !== undefined && others.some((other) => isTwin(other) && !other.key.equals(key));
}

function keyFingerprint({ keyId, algorithms, key }: KeyWithId): string {
  return JSON.stringify([keyId ?? null, algorithms, key.export({ format: 'jwk' })]);
}
