import { durationMs } from '../manifest/units.ts';
import type { TokenErrorCode } from '../token-errors.ts';

export type TokenClaims = Readonly<Record<string, unknown>>;

/** The rules of a manifest for the claims of a token, whatever the verification method. */
export interface ClaimRules {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** Claims that must be present and not null. */
  readonly required: readonly string[];
  readonly toleranceMs: number;
}

export function claimRules(entry: {
  readonly issuer?: string;
  readonly audience?: string;
  readonly requiredClaims: readonly string[];
  readonly clockTolerance: string;
}): ClaimRules {
  const { issuer, audience, requiredClaims: required, clockTolerance } = entry;
  return { issuer, audience, required, toleranceMs: durationMs(clockTolerance) };
}

/** Returns why claims are not valid now (RFC 7519 section 4.1); `undefined` if they are. */
export function claimsError(claims: TokenClaims, rules: ClaimRules): TokenErrorCode | undefined {
  const { issuer, audience, required, toleranceMs } = rules;
  if (required.some((name) => !Object.hasOwn(claims, name) || claims[name] === null)) return 'claims_wrong';
  if (issuer !== undefined && claims['iss'] !== issuer) return 'issuer_wrong';
  if (audience !== undefined && !hasAudience(claims['aud'], audience)) return 'audience_wrong';
  const { exp, nbf, iat } = claims;
  if (!isNumericDate(exp) || !isNumericDate(nbf) || !isNumericDate(iat)) return 'claims_wrong';
  const now = Date.now();
  if (expiryMs(claims, toleranceMs) <= now) return 'token_expired';
  const latestS = (now + toleranceMs) / 1000;
  return (nbf ?? 0) > latestS || (iat ?? 0) > latestS ? 'token_not_yet_valid' : undefined;
}

/** Returns when claims expire, including the tolerance, in milliseconds since the Unix epoch; infinity without `exp`. */
export function expiryMs({ exp }: TokenClaims, toleranceMs: number): number {
  return typeof exp === 'number' ? exp * 1000 + toleranceMs : Number.POSITIVE_INFINITY;
}

function hasAudience(aud: unknown, audience: string): boolean {
  return aud === audience || (Array.isArray(aud) && aud.includes(audience));
}

/** A date is a number of seconds, and optional. */
function isNumericDate(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number';
}
