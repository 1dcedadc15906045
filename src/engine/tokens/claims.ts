import type { TokenErrorCode } from '../gateway/response/refusal.ts';
import { durationMs } from '../manifest/units.ts';

export type TokenClaims = Readonly<Record<string, unknown>>;

export type ClaimRules = ReturnType<typeof claimRules>;

/** Compiles the rules for the claims of a token, whatever the verification method. One of the audiences must be in `aud`. */
export function claimRules(entry: {
  readonly issuer?: string;
  readonly audience?: string | readonly string[];
  readonly requiredClaims: readonly string[];
  readonly clockTolerance: string;
}) {
  const { issuer, audience, requiredClaims: required, clockTolerance } = entry;
  const audiences = audience === undefined ? undefined : [audience].flat();
  return { issuer, audiences, required, toleranceMs: durationMs(clockTolerance) };
}

/** Returns why claims are not valid now (RFC 7519 section 4.1); `undefined` if they are. */
export function claimsError(claims: TokenClaims, rules: ClaimRules): TokenErrorCode | undefined {
  const { issuer, audiences, required, toleranceMs } = rules;
  if (required.some((name) => !Object.hasOwn(claims, name) || claims[name] === null)) return 'claims_wrong';
  if (issuer !== undefined && claims['iss'] !== issuer) return 'issuer_wrong';
  if (audiences !== undefined && !hasAudience(claims['aud'], audiences)) return 'audience_wrong';
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

function hasAudience(aud: unknown, audiences: readonly unknown[]): boolean {
  return Array.isArray(aud) ? aud.some((one) => audiences.includes(one)) : audiences.includes(aud);
}

/** A date is a number of seconds, and optional. */
function isNumericDate(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number';
}
