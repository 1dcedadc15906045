import { type Answer, data, Fault } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Call, Route } from '../call.ts';
import { email, text } from '../fields.ts';
import { isPassword } from '../passwords.ts';
import { SOCIAL_TOKENS } from '../samples.ts';
import type { Store } from '../store.ts';
import { issueToken, TOKEN_LIFETIME_SECONDS, tokenKey } from '../tokens.ts';
import { type Account, accountOf, issueTicket, spendTicket } from './account.ts';
import { spendCode } from './factors.ts';

const CHALLENGE_MINUTES = 5;

/** The ways to a token: by password, by a social token, and the second step that either may ask for. */
export const loginRoutes: readonly Route[] = [
  ['POST /api/v1/login', 'public', login],
  ['POST /api/v1/social-auth', 'public', socialLogin],
  ['POST /api/v1/login/mfa/totp', 'public', answerChallenge],
  ['GET /.well-known/jwks.json', 'public', publishKey],
];

async function login({ store, fields }: Call): Promise<Answer> {
  const account = accountOf(store, 'email', email(fields, 'email'));
  const matches = isPassword(text(fields, 'password'), account?.password);
  if (account !== undefined && !matches) audit(store, account, 'login.refused', account.id);
  if (account === undefined || !matches) throw new Fault(401, 'invalid credentials');
  return tokenOrChallenge(store, account);
}

async function socialLogin({ store, fields }: Call): Promise<Answer> {
  const provider = text(fields, 'provider');
  const token = text(fields, 'access_token');
  const known = SOCIAL_TOKENS.find((social) => social.provider === provider && social.token === token);
  const account = known && accountOf(store, 'email', known.email);
  if (account === undefined) throw new Fault(401, `${provider} does not know this token`);
  return tokenOrChallenge(store, account);
}

async function tokenOrChallenge(store: Store, account: Account): Promise<Answer> {
  if (account.factorSince === null) return grant(store, account);
  const challenge_id = issueTicket(store, account, 'login challenge', CHALLENGE_MINUTES);
  audit(store, account, 'login.challenge', account.id);
  return data({ mfa_required: true, challenge_id, methods: ['totp'], expires_in: CHALLENGE_MINUTES * 60 });
}

/** A challenge is over with its first answer, so that codes cannot be tried out. */
async function answerChallenge({ store, fields }: Call): Promise<Answer> {
  const code = text(fields, 'code');
  const account = spendTicket(store, text(fields, 'challenge_id'), 'login challenge');
  if (account === undefined) throw new Fault(401, 'the challenge is over: log in again');
  if (spendCode(store, account, code)) return grant(store, account);
  audit(store, account, 'login.refused', account.id);
  throw new Fault(401, 'invalid code: log in again');
}

async function grant(store: Store, account: Account): Promise<Answer> {
  audit(store, account, 'login.success', account.id);
  const access_token = await issueToken(store, account);
  return data({ access_token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS, role: account.role });
}

async function publishKey({ store }: Call): Promise<Answer> {
  return { status: 200, body: { keys: [await tokenKey(store)] } };
}
