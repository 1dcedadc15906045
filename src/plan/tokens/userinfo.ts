import type { ClaimRules } from './claims.ts';
import type { Endpoint } from './endpoint.ts';
import { askingJudge, type ReadAnswer, readJsonObject } from './identity-answer.ts';
import { type Asking, IdentityClient } from './identity-client.ts';
import type { Judge } from './verifier.ts';

/** Tokens are judged by what the identity service answers to them: who the user is, or that it does not know. */
export function userinfoJudge(endpoint: Endpoint, rules: ClaimRules): Judge {
  const client = new IdentityClient(endpoint);
  const put = (token: string, asking: Asking) =>
    client.ask({ Accept: 'application/json', Authorization: `Bearer ${token}` }, undefined, asking);
  return askingJudge(put, readUserinfo, rules);
}

const readUserinfo: ReadAnswer = (reply) => {
  if (reply.status === 401 || reply.status === 403) return { fault: 'token_inactive' };
  return { claims: readJsonObject(reply), bytes: reply.body.length };
};
