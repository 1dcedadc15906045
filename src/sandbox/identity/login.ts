import { recordAuditEvent } from '../audit.ts';
import { emailField, textField } from '../fields.ts';
import { isCorrectPassword } from '../passwords.ts';
import type { SandboxRequest, SandboxRoute } from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import { SOCIAL_TOKENS } from '../samples.ts';
import type { Store } from '../store.ts';
import { issueToken, publicKeyJwk, TOKEN_LIFETIME_SECONDS } from '../tokens.ts';
import { type Account, findAccount, issueTicket, redeemTicket } from './account.ts';
import { redeemTotpCode } from './factors.ts';

const CHALLENGE_MINUTES = 5;

/** Routes that issue tokens: login with a password or a social token, and the second step with a TOTP code. */
export const loginRoutes: readonly SandboxRoute[] = [
  ['POST /api/v1/login', 'public', login],
  ['POST /api/v1/social-auth', 'public', socialLogin],
  ['POST /api/v1/login/mfa/totp', 'public', completeChallenge],
  ['GET /.well-known/jwks.json', 'public', publishKey],
];

async function login({ store, fields }: SandboxRequest): Promise<SandboxResponse> {
  const account = findAccount(store, 'email', emailField(fields, 'email'));
  const matches = isCorrectPassword(textField(fields, 'password'), account?.password);
  if (account !== undefined && !matches) recordAuditEvent(store, account, 'login.refused', account.id);
  if (account === undefined || !matches) throw new SandboxError(401, 'invalid credentials');
  return tokenOrChallenge(store, account);
}

async function socialLogin({ store, fields }: SandboxRequest): Promise<SandboxResponse> {
  const provider = textField(fields, 'provider');
  const token = textField(fields, 'access_token');
  const match = SOCIAL_TOKENS.find((social) => social.provider === provider && social.token === token);
  const account = match && findAccount(store, 'email', match.email);
  if (account === undefined) throw new SandboxError(401, `the token of ${provider} is not valid`);
  return tokenOrChallenge(store, account);
}

async function tokenOrChallenge(store: Store, account: Account): Promise<SandboxResponse> {
  if (account.factorSince === null) return grantToken(store, account);
  const challenge_id = issueTicket(store, account, 'login challenge', CHALLENGE_MINUTES);
  recordAuditEvent(store, account, 'login.challenge', account.id);
  return dataResponse({ mfa_required: true, challenge_id, methods: ['totp'], expires_in: CHALLENGE_MINUTES * 60 });
}

/** Completes a login with a TOTP code. A challenge allows one attempt, so that codes cannot be guessed. */
async function completeChallenge({ store, fields }: SandboxRequest): Promise<SandboxResponse> {
  const code = textField(fields, 'code');
  const account = redeemTicket(store, textField(fields, 'challenge_id'), 'login challenge');
  if (account === undefined) throw new SandboxError(401, 'the challenge is used or expired; log in again');
  if (redeemTotpCode(store, account, code)) return grantToken(store, account);
  recordAuditEvent(store, account, 'login.refused', account.id);
  throw new SandboxError(401, 'invalid code; log in again');
}

async function grantToken(store: Store, account: Account): Promise<SandboxResponse> {
  recordAuditEvent(store, account, 'login.success', account.id);
  const access_token = await issueToken(store, account);
  return dataResponse({ access_token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS, role: account.role });
}

async function publishKey({ store }: SandboxRequest): Promise<SandboxResponse> {
  return { status: 200, body: { keys: [await publicKeyJwk(store)] } };
}
