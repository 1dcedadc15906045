import type { Refused } from '../plan.ts';
import { parseStrictJson } from '../strict-json.ts';
import { type ClaimRules, type Claims, claimsFault, isClaims } from './claims.ts';
import type { Asking } from './identity-client.ts';
import { NoAnswer, type Reply } from './question.ts';
import { isBearerToken } from './token-text.ts';
import type { Good, Judge } from './verifier.ts';

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json$/;

/** What an answer says of a token: its claims, or that it is not good. Throws `NoAnswer` when it says neither. */
export type ReadAnswer = (reply: Reply) => { readonly claims: Claims; readonly bytes: number } | Refused;

/** Judges tokens by asking about each. What is no bearer token is not asked about. */
export function askingJudge(
  put: (token: string, asking: Asking) => Promise<Reply>,
  read: ReadAnswer,
  rules: ClaimRules,
): Judge {
  const judge = async (token: string, asking: Asking): Promise<Good | Refused> => {
    if (!isBearerToken(token)) return { fault: 'token_malformed' };
    try {
      const found = read(await put(token, asking));
      if ('fault' in found) return found;
      const fault = claimsFault(found.claims, rules);
      return fault === undefined ? found : { fault };
    } catch (error) {
      return { fault: 'keys_unavailable', cause: error instanceof NoAnswer ? error.message : String(error) };
    }
  };
  return { judge, isAsking: true };
}

/** The JSON object of an answer of status 200. Throws `NoAnswer` when it is none, or has two readings. */
export function readJsonObject({ status, mediaType, body }: Reply): Claims {
  if (status !== 200) throw new NoAnswer(`answered_${status}`);
  const parsed = JSON_TYPE.test(mediaType) ? parseStrictJson(body) : undefined;
  if (parsed === undefined || 'fault' in parsed || !isClaims(parsed.value)) throw new NoAnswer('answer_not_json');
  return parsed.value;
}
