import { randomBytes } from 'node:crypto';
import { type Answer, Fault, success } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, email, text } from '../call.ts';
import { sendMail } from '../mail.ts';
import { hashPassword } from '../passwords.ts';
import type { Route } from '../server.ts';
import { now, type Store } from '../store.ts';
import { type Account, accountOfEmail, accountOfId, hashSecret, inMinutes } from './account.ts';

const TOKEN_MINUTES = 60;
const MIN_PASSWORD_LENGTH = 8;

type Purpose = 'password reset' | 'email verification';

/** What a mailbox can prove: a forgotten password, a verified address. */
export function recoveryRoutes(store: Store): readonly Route[] {
  return [
    ['POST', '/api/v1/password/forgot', 'public', (call: Call) => mailToken(store, call, 'password reset')],
    ['POST', '/api/v1/password/reset', 'public', (call: Call) => resetPassword(store, call)],
    ['POST', '/api/v1/email/verification', 'public', (call: Call) => mailToken(store, call, 'email verification')],
    ['POST', '/api/v1/email/verify', 'public', (call: Call) => verifyEmail(store, call)],
  ];
}

/** Answers the same whether there is such an account or not. */
async function mailToken(store: Store, call: Call, purpose: Purpose): Promise<Answer> {
  const account = accountOfEmail(store, email(await call.json(), 'email'));
  if (account !== undefined) {
    const token = randomBytes(24).toString('base64url');
    store.run(
      'INSERT INTO mailed_tokens VALUES (?, ?, ?, ?)',
      hashSecret(token),
      account.id,
      purpose,
      inMinutes(TOKEN_MINUTES),
    );
    sendMail(store, { to: account.email, subject: `Your ${purpose}`, body: `token: ${token}` });
    audit(store, account, `${purpose.replace(' ', '-')}.request`, account.id);
  }
  return success('if there is such an account, a mail is on its way', 202);
}

async function resetPassword(store: Store, call: Call): Promise<Answer> {
  const body = await call.json();
  const password = text(body, 'password');
  const token = text(body, 'token');
  if (password.length < MIN_PASSWORD_LENGTH) throw new Fault(400, `"password" needs ${MIN_PASSWORD_LENGTH} characters`);
  const hash = await hashPassword(password);
  const account = spendToken(store, token, 'password reset');
  store.run('UPDATE accounts SET password = ? WHERE id = ?', hash, account.id);
  audit(store, account, 'password.reset', account.id);
  return success('the password is changed');
}

async function verifyEmail(store: Store, call: Call): Promise<Answer> {
  const account = spendToken(store, text(await call.json(), 'token'), 'email verification');
  store.run('UPDATE accounts SET email_verified_at = ? WHERE id = ?', now(), account.id);
  audit(store, account, 'email.verify', account.id);
  return success('the e-mail address is verified');
}

/** A token is good once: finding it and deleting it are one statement. */
function spendToken(store: Store, token: string, purpose: Purpose): Account {
  const spent = store.one<{ account_id: string }>(
    'DELETE FROM mailed_tokens WHERE hash = ? AND purpose = ? AND expires_at > ? RETURNING account_id',
    hashSecret(token),
    purpose,
    now(),
  );
  const account = spent && accountOfId(store, spent.account_id);
  if (account === undefined) throw new Fault(400, 'the token is unknown, used or expired');
  return account;
}
