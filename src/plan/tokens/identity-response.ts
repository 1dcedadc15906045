import { parseStrictJson } from '../body/strict-json.ts';
import type { TokenVerifier, VerifiedToken } from './caching-verifier.ts';
import { type ClaimRules, claimsError, isJsonObject, type TokenClaims } from './claims.ts';
import type { VerificationContext } from './identity-client.ts';
import { IdentityError, type IdentityResponse } from './identity-request.ts';
import { isBearerToken } from './token-syntax.ts';
import type { RejectedToken } from './verification-result.ts';

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json$/;

/** What an answer says of a token: its claims, or that it is not good. Throws `NoAnswer` when it says neither. */
export type IdentityResponseReader = (
  reply: IdentityResponse,
) => { readonly claims: TokenClaims; readonly bytes: number } | RejectedToken;

/** Judges tokens by asking about each. What is no bearer token is not asked about. */
export function createRemoteVerifier(
  put: (token: string, asking: VerificationContext) => Promise<IdentityResponse>,
  read: IdentityResponseReader,
  rules: ClaimRules,
): TokenVerifier {
  const verify = async (token: string, asking: VerificationContext): Promise<VerifiedToken | RejectedToken> => {
    if (!isBearerToken(token)) return { code: 'token_malformed' };
    try {
      const found = read(await put(token, asking));
      if ('code' in found) return found;
      const code = claimsError(found.claims, rules);
      return code === undefined ? found : { code };
    } catch (error) {
      return { code: 'keys_unavailable', cause: error instanceof IdentityError ? error.message : String(error) };
    }
  };
  return { verify, isRemote: true };
}

/** The JSON object of an answer of status 200. Throws `NoAnswer` when it is none, or has two readings. */
export function readJsonObject({ status, mediaType, body }: IdentityResponse): TokenClaims {
  if (status !== 200) throw new IdentityError(`status_${status}`);
  const parsed = JSON_TYPE.test(mediaType) ? parseStrictJson(body) : undefined;
  if (parsed === undefined || 'violation' in parsed || !isJsonObject(parsed.value))
    throw new IdentityError('response_not_json');
  return parsed.value;
}
