import type { KeyObject } from 'node:crypto';
import type { TokenErrorCode } from '../gateway/response/refusal.ts';
import type { Jwt } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import { sharedNow } from '../shared-memory/worker-context.ts';
import { type ClaimRules, claimRules, claimsError } from './claims.ts';
import { DelegatedKeySource } from './delegated-verifier.ts';
import type { TokensContext } from './identity-endpoint.ts';
import { compileJwtKeys } from './jwt-keys.ts';
import type { VerificationKeySet } from './key-set.ts';
import type { KeySource, TokenMethod, TokenVerifier, VerifiedToken } from './token-method.ts';
import { parseJwt, type UnverifiedJwt } from './token-syntax.ts';
import type { RejectedToken } from './verifier.ts';

interface JwtRules extends ClaimRules {
  readonly algorithms: readonly string[];
  /** The required `typ`, as a media type; `undefined` accepts any. */
  readonly type: string | undefined;
}

/** Compiles the verification of signed JWTs (RFC 7519, RFC 8725): algorithms are pinned; `iss`, `aud` and `exp` are required. */
export function compileJwt(entry: Jwt, path: Path, context: TokensContext): TokenMethod | undefined {
  const keySource = compileJwtKeys(entry, path, context);
  if (keySource === undefined) return undefined;
  const rules = jwtRules(entry);
  const verifierWith = (keySource: KeySource): TokenVerifier => ({
    verify: (token, { key }) => verifyJwt(token, rules, keySource, key),
    keySource,
  });
  return {
    verifier: verifierWith(keySource),
    // Signatures are verified in each thread; only the keys come from another one.
    ...(keySource.publish && { delegateTo: (network) => verifierWith(new DelegatedKeySource(network, keySource)) }),
    dependencies: keySource.dependencies,
    staleIfErrorMs: 0,
  };
}

export function jwtRules(entry: Jwt): JwtRules {
  const common = claimRules(entry);
  return {
    ...common,
    required: ['exp', ...common.required],
    algorithms: entry.algorithms,
    type: entry.type === undefined ? undefined : normalizeJwtType(entry.type),
  };
}

/** The contents of a token, apart from its signature. */
export type UnsignedToken = Omit<UnverifiedJwt, 'keyId'>;

/** Returns why a token is not valid now, whatever its signature; `undefined` if it is. */
export function unsignedError(token: UnsignedToken, rules: JwtRules): TokenErrorCode | undefined {
  return headerError(token, rules) ?? claimsError(token.claims, rules);
}

async function verifyJwt(
  token: string,
  rules: JwtRules,
  source: KeySource,
  client: string | undefined,
): Promise<VerifiedToken | RejectedToken> {
  const receivedAtMs = sharedNow();
  const jwt = parseJwt(token);
  if (jwt === undefined) return { code: 'token_malformed' };
  // An invalid header or claim needs no keys, so an expired token causes no fetch.
  const code = unsignedError(jwt, rules);
  if (code !== undefined) return { code };
  let keySet = await source.current();
  while (keySet !== undefined) {
    const signatureCode = await signatureError(token, jwt, keySet);
    if (signatureCode === undefined) return { claims: jwt.claims, bytes: token.length, keySet };
    const lookup = {
      keyId: jwt.keyId,
      receivedAtMs,
      isUnknownKeyId: signatureCode === 'key_unknown',
      clientKey: client,
    };
    const newer = await source.refresh(keySet, lookup);
    if (newer === 'none' || (newer === 'unavailable' && signatureCode === 'signature_wrong'))
      return { code: signatureCode };
    keySet = newer === 'unavailable' ? undefined : newer;
  }
  return { code: 'keys_unavailable', ...(source.lastError === undefined ? {} : { cause: source.lastError }) };
}

function headerError({ algorithm, type }: UnsignedToken, rules: JwtRules): TokenErrorCode | undefined {
  if (!rules.algorithms.includes(algorithm)) return 'algorithm_not_allowed';
  if (rules.type === undefined) return undefined;
  return typeof type === 'string' && normalizeJwtType(type) === rules.type ? undefined : 'type_wrong';
}

async function signatureError(
  token: string,
  jwt: UnverifiedJwt,
  keys: VerificationKeySet,
): Promise<TokenErrorCode | undefined> {
  const candidates = keys.findKeys(jwt.keyId, jwt.algorithm);
  for (const key of candidates) if (await isSignedBy(key, token, jwt.algorithm)) return undefined;
  return candidates.length === 0 ? 'key_unknown' : 'signature_wrong';
}

/** Adds the optional `application/` and ignores letter case (RFC 7515 section 4.1.9). */
function normalizeJwtType(type: string): string {
  const lower = type.toLowerCase();
  return lower.includes('/') ? lower : `application/${lower}`;
}

/** Loaded with the first token, so that `check` and `lint` do not load it. */
let library: Promise<typeof import('jose/jws/compact/verify')> | undefined;

/**
 * Returns true if a key has signed a compact JWS (RFC 7515 section 5.2) with exactly this algorithm. Any error of the library
 * means false.
 */
export async function isSignedBy(key: KeyObject, token: string, algorithm: string): Promise<boolean> {
  library ??= import('jose/jws/compact/verify');
  const { compactVerify } = await library;
  try {
    await compactVerify(token, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
}
