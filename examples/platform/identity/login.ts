import { recordAuditEvent } from '../audit.ts';
import { emailField, type Fields, textField } from '../fields.ts';
import { isCorrectPassword } from '../passwords.ts';
import { jsonBody, type SandboxRequest, type SandboxRoute } from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import { SOCIAL_TOKENS } from '../samples.ts';
import type { Store } from '../store.ts';
import { issueToken, publicKeyJwk, TOKEN_LIFETIME_SECONDS } from '../tokens.ts';
import { type Account, findAccount, issueTicket, redeemTicket } from './account.ts';
import { mailCode } from './email-factor.ts';
import { confirmedFactors, type FactorKind } from './factors.ts';
import { redeemCode } from './one-time-codes.ts';
import { redeemTotpCode } from './totp-factor.ts';
import { createLoginOptions, redeemAssertion } from './webauthn-factor.ts';

const CHALLENGE_MINUTES = 5;

const CHALLENGE_EXAMPLE = jsonBody({ challenge_id: 'the challenge_id of the login', code: '123456' });

/** Routes that issue tokens: login with a password or a social token, and the second step with a code. */
export const loginRoutes: readonly SandboxRoute[] = [
  [
    'POST /api/v1/login',
    'public',
    login,
    { summary: 'Log in', body: jsonBody({ email: 'user@acme.example', password: 'demo-password' }) },
  ],
  [
    'POST /api/v1/social-auth',
    'public',
    socialLogin,
    {
      summary: 'Log in with the token of a social provider',
      body: jsonBody({ provider: 'google', access_token: 'google-demo-token-of-the-user' }),
    },
  ],
  [
    'POST /api/v1/login/mfa/totp',
    'public',
    completeChallenge('totp'),
    { summary: 'Complete a login with a TOTP code', body: CHALLENGE_EXAMPLE },
  ],
  [
    'POST /api/v1/login/mfa/email',
    'public',
    completeChallenge('email'),
    { summary: 'Complete a login with a mailed code', body: CHALLENGE_EXAMPLE },
  ],
  [
    'POST /api/v1/login/mfa/webauthn',
    'public',
    completeChallenge('webauthn'),
    {
      summary: 'Complete a login with a security key',
      body: jsonBody({ challenge_id: 'the challenge_id of the login', credential: {} }),
    },
  ],
  ['GET /.well-known/jwks.json', 'public', publishKey, { summary: 'Get the keys that verify tokens' }],
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
  const methods = confirmedFactors(store, account);
  if (methods.length === 0) return grantToken(store, account);
  if (methods.includes('email')) mailCode(store, account, 'e-mail login');
  const challenge_id = issueTicket(store, account, 'login challenge', CHALLENGE_MINUTES);
  recordAuditEvent(store, account, 'login.challenge', account.id);
  const webauthn = methods.includes('webauthn') && { webauthn: createLoginOptions(store, account) };
  return dataResponse({ mfa_required: true, challenge_id, methods, ...webauthn, expires_in: CHALLENGE_MINUTES * 60 });
}

/** Completes a login with a second factor. A challenge allows one attempt, so that codes cannot be guessed. */
function completeChallenge(kind: FactorKind): (request: SandboxRequest) => Promise<SandboxResponse> {
  return async ({ store, fields }) => {
    const proof = kind === 'webauthn' ? (Object(fields['credential']) as Fields) : textField(fields, 'code');
    const account = redeemTicket(store, textField(fields, 'challenge_id'), 'login challenge');
    if (account === undefined) throw new SandboxError(401, 'the challenge is used or expired; log in again');
    const isConfirmed = confirmedFactors(store, account).includes(kind);
    if (isConfirmed && redeemProof(store, account, kind, proof)) return grantToken(store, account);
    recordAuditEvent(store, account, 'login.refused', account.id);
    throw new SandboxError(401, `invalid ${kind === 'webauthn' ? 'credential' : 'code'}; log in again`);
  };
}

function redeemProof(store: Store, account: Account, kind: FactorKind, proof: string | Fields): boolean {
  if (typeof proof !== 'string') return redeemAssertion(store, account, proof);
  return kind === 'totp' ? redeemTotpCode(store, account, proof) : redeemCode(store, account, 'e-mail login', proof);
}

async function grantToken(store: Store, account: Account): Promise<SandboxResponse> {
  recordAuditEvent(store, account, 'login.success', account.id);
  const access_token = await issueToken(store, account);
  return dataResponse({ access_token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS, role: account.role });
}

async function publishKey({ store }: SandboxRequest): Promise<SandboxResponse> {
  return { status: 200, body: { keys: [await publicKeyJwk(store)] } };
}
