import { parseStrictJson } from '../validation/strict-json.ts';
import { type ClaimRules, claimsError, isJsonObject, type TokenClaims } from './claims.ts';
import type { VerificationContext } from './identity-client.ts';
import { IdentityError, type IdentityResponse } from './identity-request.ts';
import type { TokenVerifier, VerifiedToken } from './token-method.ts';
import { isBearerToken } from './token-syntax.ts';
import type { RejectedToken } from './verifier.ts';

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json$/;

/** Reads a token's claims, or its rejection, from a response. Throws an `IdentityError` if the response has neither. */
export type IdentityResponseReader = (
  response: IdentityResponse,
) => { readonly claims: TokenClaims; readonly bytes: number } | RejectedToken;

/** Creates a verifier that sends a request for each token. A malformed token is rejected without a request. */
export function createRemoteVerifier(
  send: (token: string, context: VerificationContext) => Promise<IdentityResponse>,
  read: IdentityResponseReader,
  rules: ClaimRules,
): TokenVerifier {
  const verify = async (token: string, context: VerificationContext): Promise<VerifiedToken | RejectedToken> => {
    if (!isBearerToken(token)) return { code: 'token_malformed' };
    try {
      const result = read(await send(token, context));
      if ('code' in result) return result;
      const code = claimsError(result.claims, rules);
      return code === undefined ? result : { code };
    } catch (error) {
      return { code: 'keys_unavailable', cause: error instanceof IdentityError ? error.message : String(error) };
    }
  };
  return { verify, isRemote: true };
}

/** Reads a strict JSON object from a response with status 200. Throws an `IdentityError` for any other response. */
export function readJsonObject({ status, mediaType, body }: IdentityResponse): TokenClaims {
  if (status !== 200) throw new IdentityError(`status_${status}`);
  const parsed = JSON_TYPE.test(mediaType) ? parseStrictJson(body) : undefined;
  if (parsed === undefined || 'violation' in parsed || !isJsonObject(parsed.value))
    throw new IdentityError('response_not_json');
  return parsed.value;
}
