import { randomUUID } from 'node:crypto';
import { type Answer, data, Fault } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, text } from '../call.ts';
import { sendMail } from '../mail.ts';
import { isPassword } from '../passwords.ts';
import { SOCIAL_TOKENS } from '../samples.ts';
import type { Route } from '../server.ts';
import { now, type Store } from '../store.ts';
import { TOKEN_LIFETIME_SECONDS, type Tokens } from '../tokens.ts';
import { totpStep } from '../totp.ts';
import { type Account, accountOfEmail, accountOfId, createCode, hashSecret, inMinutes } from './account.ts';

const CHALLENGE_MINUTES = 5;
const CHALLENGE_ATTEMPTS = 5;

/** The ways to a token: by password, by a social token, and the second step that either may ask for. */
export function loginRoutes(store: Store, tokens: Tokens): readonly Route[] {
  return [
    ['POST', '/api/v1/login', 'public', (call: Call) => login(store, tokens, call)],
    ['POST', '/api/v1/social-auth', 'public', (call: Call) => socialLogin(store, tokens, call)],
    ['POST', '/api/v1/login/mfa/totp', 'public', (call: Call) => answerChallenge(store, tokens, call, isTotp)],
    ['POST', '/api/v1/login/mfa/email', 'public', (call: Call) => answerChallenge(store, tokens, call, isMailedCode)],
  ];
}

async function login(store: Store, tokens: Tokens, call: Call): Promise<Answer> {
  const body = await call.json();
  const account = accountOfEmail(store, text(body, 'email'));
  const matches = await isPassword(text(body, 'password'), account?.password);
  if (account !== undefined && !matches) audit(store, account, 'login.refused', account.id);
  if (account === undefined || !matches) throw new Fault(401, 'invalid credentials');
  return tokenOrChallenge(store, tokens, account);
}

async function socialLogin(store: Store, tokens: Tokens, call: Call): Promise<Answer> {
  const body = await call.json();
  const provider = text(body, 'provider');
  const token = text(body, 'access_token');
  if (provider !== 'google' && provider !== 'facebook') throw new Fault(400, '"provider" must be google or facebook');
  const known = SOCIAL_TOKENS.find((social) => social.provider === provider && social.token === token);
  const account = known && accountOfEmail(store, known.email);
  if (account === undefined) throw new Fault(401, `${provider} does not know this token`);
  return tokenOrChallenge(store, tokens, account);
}

function tokenOrChallenge(store: Store, tokens: Tokens, account: Account): Answer | Promise<Answer> {
  const confirmed =
    'SELECT DISTINCT kind FROM factors WHERE account_id = ? AND confirmed_at IS NOT NULL ORDER BY kind DESC';
  const methods = store.all<{ kind: string }>(confirmed, account.id).map(({ kind }) => kind);
  if (methods.length === 0) return grant(store, tokens, account);
  const id = randomUUID();
  const code = methods.includes('email') ? createCode() : undefined;
  if (code !== undefined) sendMail(store, { to: account.email, subject: 'Your login code', body: code });
  store.run(
    'INSERT INTO challenges VALUES (?, ?, ?, 0, ?)',
    id,
    account.id,
    code === undefined ? null : hashSecret(code),
    inMinutes(CHALLENGE_MINUTES),
  );
  audit(store, account, 'login.challenge', account.id);
  return data({ mfa_required: true, challenge_id: id, methods, expires_in: CHALLENGE_MINUTES * 60 });
}

interface Challenge {
  readonly id: string;
  readonly account_id: string;
  readonly email_code: string | null;
}

type IsRight = (store: Store, challenge: Challenge, code: string) => boolean;

async function answerChallenge(store: Store, tokens: Tokens, call: Call, isRight: IsRight): Promise<Answer> {
  const body = await call.json();
  const code = text(body, 'code');
  // the attempt is spent before the code is looked at, so that no two can share one
  const challenge = store.one<Challenge>(
    `UPDATE challenges SET attempts = attempts + 1 WHERE id = ? AND attempts < ${CHALLENGE_ATTEMPTS} AND expires_at > ?
     RETURNING id, account_id, email_code`,
    text(body, 'challenge_id'),
    now(),
  );
  const account = challenge && accountOfId(store, challenge.account_id);
  if (challenge === undefined || account === undefined) throw new Fault(401, 'the challenge is over: log in again');
  if (!isRight(store, challenge, code)) {
    audit(store, account, 'login.refused', account.id);
    throw new Fault(401, 'invalid code');
  }
  store.run('DELETE FROM challenges WHERE id = ?', challenge.id);
  return grant(store, tokens, account);
}

function isTotp(store: Store, challenge: Challenge, code: string): boolean {
  const factor = store.one<{ id: string; secret: string; last_step: number }>(
    "SELECT id, secret, last_step FROM factors WHERE account_id = ? AND kind = 'totp' AND confirmed_at IS NOT NULL",
    challenge.account_id,
  );
  const step = factor && totpStep(factor.secret, code, Date.now(), factor.last_step);
  if (factor === undefined || step === undefined) return false;
  store.run('UPDATE factors SET last_step = ? WHERE id = ?', step, factor.id);
  return true;
}

function isMailedCode(_store: Store, challenge: Challenge, code: string): boolean {
  return challenge.email_code === hashSecret(code);
}

async function grant(store: Store, tokens: Tokens, account: Account): Promise<Answer> {
  audit(store, account, 'login.success', account.id);
  const token = await tokens.issue(account);
  return data({
    access_token: token,
    token_type: 'Bearer',
    expires_in: TOKEN_LIFETIME_SECONDS,
    role: account.role,
  });
}
