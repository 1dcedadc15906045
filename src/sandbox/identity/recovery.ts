import { recordAuditEvent } from '../audit.ts';
import { emailField, textField } from '../fields.ts';
import { sendMail } from '../mail.ts';
import { hashPassword } from '../passwords.ts';
import type { SandboxRequest, SandboxRoute } from '../request.ts';
import { requireFound, SandboxError, type SandboxResponse, successResponse } from '../response.ts';
import { now } from '../store.ts';
import { findAccount, issueTicket, redeemTicket } from './account.ts';

const TICKET_MINUTES = 60;
const MIN_PASSWORD_LENGTH = 8;

/** Routes that use a mailed token: password reset and verification of the e-mail address. */
export const recoveryRoutes: readonly SandboxRoute[] = [
  ['POST /api/v1/password/forgot', 'public', mailTicket('password reset')],
  ['POST /api/v1/password/reset', 'public', resetPassword],
  ['POST /api/v1/email/verification', 'public', mailTicket('email verification')],
  ['POST /api/v1/email/verify', 'public', verifyEmail],
];

/** Mails a ticket. The response is the same without such an account, so that it does not reveal which accounts exist. */
function mailTicket(purpose: 'password reset' | 'email verification'): (request: SandboxRequest) => SandboxResponse {
  return ({ store, fields }) => {
    const account = findAccount(store, 'email', emailField(fields, 'email'));
    if (account !== undefined) {
      const token = issueTicket(store, account, purpose, TICKET_MINUTES);
      sendMail(store, { to: account.email, subject: `Your ${purpose}`, body: `token: ${token}` });
      recordAuditEvent(store, account, `${purpose.replace(' ', '-')}.request`, account.id);
    }
    return successResponse('if the account exists, an e-mail was sent', 202);
  };
}

function resetPassword({ store, fields }: SandboxRequest): SandboxResponse {
  const password = textField(fields, 'password');
  if (password.length < MIN_PASSWORD_LENGTH)
    throw new SandboxError(400, `"password" needs at least ${MIN_PASSWORD_LENGTH} characters`);
  const account = requireFound(redeemTicket(store, textField(fields, 'token'), 'password reset'), 'token');
  store.run('UPDATE account SET password = ? WHERE id = ?', hashPassword(password), account.id);
  recordAuditEvent(store, account, 'password.reset', account.id);
  return successResponse('the password is changed');
}

function verifyEmail({ store, fields }: SandboxRequest): SandboxResponse {
  const account = requireFound(redeemTicket(store, textField(fields, 'token'), 'email verification'), 'token');
  store.run('UPDATE account SET email_verified_at = ? WHERE id = ?', now(), account.id);
  recordAuditEvent(store, account, 'email.verify', account.id);
  return successResponse('the e-mail address is verified');
}
