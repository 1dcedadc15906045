import { randomInt } from 'node:crypto';
import { recordAuditEvent } from '../audit.ts';
import { textField } from '../fields.ts';
import { sendMail } from '../mail.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute, type SandboxUser } from '../request.ts';
import { SandboxError, type SandboxResponse, successResponse } from '../response.ts';
import { now, type Store } from '../store.ts';
import { listFactors } from './factors.ts';
import { redeemCode, storeCode } from './one-time-codes.ts';

/** Routes of the e-mail factor: codes that are mailed to the address of the account. */
export const emailFactorRoutes: readonly SandboxRoute[] = [
  ['POST /api/v1/mfa/email/enroll', 'protected', enrolEmail, { summary: 'Enrol an e-mail factor', status: 202 }],
  [
    'POST /api/v1/mfa/email/confirm',
    'protected',
    confirmEmail,
    { summary: 'Confirm an e-mail factor with the mailed code', body: jsonBody({ code: '123456' }) },
  ],
];

/** Mails a new code to the user. */
export function mailCode(store: Store, user: SandboxUser, purpose: 'e-mail enrolment' | 'e-mail login'): void {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  storeCode(store, user, purpose, code);
  sendMail(store, { to: user.email, subject: `Your code: ${purpose}`, body: `code: ${code}` });
}

/** Enrols a factor and mails a code. Throws 409 if the factor is confirmed. */
function enrolEmail({ store, user }: AuthenticatedRequest): SandboxResponse {
  store.insert('email_factor', { account_id: user.id, confirmed_at: null });
  const pending = 'SELECT 1 FROM email_factor WHERE account_id = ? AND confirmed_at IS NULL';
  if (store.one(pending, user.id) === undefined)
    throw new SandboxError(409, 'the account already has a confirmed factor');
  mailCode(store, user, 'e-mail enrolment');
  recordAuditEvent(store, user, 'factor.enrol', user.id);
  return successResponse(`a code was sent to ${user.email}`, 202);
}

function confirmEmail(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, fields } = request;
  if (!redeemCode(store, user, 'e-mail enrolment', textField(fields, 'code')))
    throw new SandboxError(400, 'invalid or expired code');
  store.run('UPDATE email_factor SET confirmed_at = ? WHERE account_id = ?', now(), user.id);
  recordAuditEvent(store, user, 'factor.confirm', user.id);
  return listFactors(request);
}
