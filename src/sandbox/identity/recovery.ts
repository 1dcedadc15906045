import { type Answer, Fault, found, success } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Call, Route } from '../call.ts';
import { email, text } from '../fields.ts';
import { sendMail } from '../mail.ts';
import { hashPassword } from '../passwords.ts';
import { now } from '../store.ts';
import { accountOf, issueTicket, spendTicket } from './account.ts';

const TICKET_MINUTES = 60;
const MIN_PASSWORD_LENGTH = 8;

/** What a mailbox can prove: a forgotten password, a verified address. */
export const recoveryRoutes: readonly Route[] = [
  ['POST /api/v1/password/forgot', 'public', mailTicket('password reset')],
  ['POST /api/v1/password/reset', 'public', resetPassword],
  ['POST /api/v1/email/verification', 'public', mailTicket('email verification')],
  ['POST /api/v1/email/verify', 'public', verifyEmail],
];

/** Answers the same whether there is such an account or not. */
function mailTicket(purpose: 'password reset' | 'email verification'): (call: Call) => Answer {
  return ({ store, fields }) => {
    const account = accountOf(store, 'email', email(fields, 'email'));
    if (account !== undefined) {
      const token = issueTicket(store, account, purpose, TICKET_MINUTES);
      sendMail(store, { to: account.email, subject: `Your ${purpose}`, body: `token: ${token}` });
      audit(store, account, `${purpose.replace(' ', '-')}.request`, account.id);
    }
    return success('if there is such an account, a mail is on its way', 202);
  };
}

function resetPassword({ store, fields }: Call): Answer {
  const password = text(fields, 'password');
  if (password.length < MIN_PASSWORD_LENGTH) throw new Fault(400, `"password" needs ${MIN_PASSWORD_LENGTH} characters`);
  const account = found(spendTicket(store, text(fields, 'token'), 'password reset'), 'token');
  store.run('UPDATE account SET password = ? WHERE id = ?', hashPassword(password), account.id);
  audit(store, account, 'password.reset', account.id);
  return success('the password is changed');
}

function verifyEmail({ store, fields }: Call): Answer {
  const account = found(spendTicket(store, text(fields, 'token'), 'email verification'), 'token');
  store.run('UPDATE account SET email_verified_at = ? WHERE id = ?', now(), account.id);
  audit(store, account, 'email.verify', account.id);
  return success('the e-mail address is verified');
}
