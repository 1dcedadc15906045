import { recordAuditEvent } from '../audit.ts';
import { emailField, type Fields, textField } from '../fields.ts';
import { sendMail } from '../mail.ts';
import { hashPassword } from '../passwords.ts';
import { jsonBody, type SandboxRequest, type SandboxRoute } from '../request.ts';
import { requireFound, SandboxError, type SandboxResponse, successResponse } from '../response.ts';
import { now, type Store } from '../store.ts';
import { findAccount, issueTicket, redeemTicket } from './account.ts';

const TICKET_MINUTES = 60;
const MIN_PASSWORD_LENGTH = 8;

/** Routes that use a mailed token: password reset and verification of the e-mail address. */
export const recoveryRoutes: readonly SandboxRoute[] = [
  [
    'POST /api/v1/password/forgot',
    'public',
    mailTicket('password reset'),
    { summary: 'Mail a token for a password reset', body: jsonBody({ email: 'user@acme.example' }), status: 202 },
  ],
  [
    'POST /api/v1/password/reset',
    'public',
    resetPassword,
    { summary: 'Reset a password', body: jsonBody({ token: 'the token in the mail', password: 'demo-password' }) },
  ],
  [
    'POST /api/v1/email/verification',
    'public',
    mailTicket('email verification'),
    { summary: 'Mail a link that verifies the address', body: jsonBody({ email: 'user@acme.example' }), status: 202 },
  ],
  [
    'POST /api/v1/email/verify',
    'public',
    ({ store, fields }: SandboxRequest) => verifyEmail(store, fields),
    { summary: 'Verify an address', body: jsonBody({ token: 'the token in the mail' }) },
  ],
  [
    'GET /api/v1/email/verify',
    'public',
    openVerificationLink,
    { summary: 'Verify an address with the link in the mail', query: ['token'] },
  ],
];

/** Mails a ticket. The response is the same without such an account, so that it does not reveal which accounts exist. */
function mailTicket(purpose: 'password reset' | 'email verification'): (request: SandboxRequest) => SandboxResponse {
  return ({ store, fields }) => {
    const account = findAccount(store, 'email', emailField(fields, 'email'));
    if (account !== undefined) {
      const token = issueTicket(store, account, purpose, TICKET_MINUTES);
      // Only a verification has a link: a password reset needs a form for the new password.
      const link = purpose === 'email verification' ? `\nlink: /api/v1/email/verify?token=${token}` : '';
      sendMail(store, { to: account.email, subject: `Your ${purpose}`, body: `token: ${token}${link}` });
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

/** Verifies the address. Scanners of mails send HEAD, which must not use up the token. */
function openVerificationLink({ store, method, query }: SandboxRequest): SandboxResponse {
  if (method === 'HEAD') return { status: 200 };
  return verifyEmail(store, Object.fromEntries(query));
}

function verifyEmail(store: Store, fields: Fields): SandboxResponse {
  const account = requireFound(redeemTicket(store, textField(fields, 'token'), 'email verification'), 'token');
  store.run('UPDATE account SET email_verified_at = ? WHERE id = ?', now(), account.id);
  recordAuditEvent(store, account, 'email.verify', account.id);
  return successResponse('the e-mail address is verified');
}
