import { randomInt } from 'node:crypto';
import { recordAuditEvent } from '../audit.ts';
import { textField } from '../fields.ts';
import { sendMail } from '../mail.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute, type SandboxUser } from '../request.ts';
import { SandboxError, type SandboxResponse, successResponse } from '../response.ts';
import { minutesFromNow, now, type Store } from '../store.ts';
import { listFactors } from './factors.ts';

const CODE_MINUTES = 10;
/** A code has six digits, so the number of attempts is limited. */
const MAX_ATTEMPTS = 3;

type CodePurpose = 'enrolment' | 'login';

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

/** Mails a code to the user. It replaces the previous one for the same purpose. */
export function sendEmailCode(store: Store, { id, email }: SandboxUser, purpose: CodePurpose): void {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const expires_at = minutesFromNow(CODE_MINUTES);
  store.run('DELETE FROM email_code WHERE account_id = ? AND purpose = ?', id, purpose);
  store.insert('email_code', { account_id: id, purpose, code, attempts: 0, expires_at });
  sendMail(store, { to: email, subject: `Your ${purpose} code`, body: `code: ${code}` });
}

/** True if this is the mailed code. Each code works once. */
export function redeemEmailCode(store: Store, { id }: SandboxUser, purpose: CodePurpose, code: string): boolean {
  const attempt = `UPDATE email_code SET attempts = attempts + 1
    WHERE account_id = ? AND purpose = ? AND attempts < ? AND expires_at > ? RETURNING code`;
  const row = store.one<{ code: string }>(attempt, id, purpose, MAX_ATTEMPTS, now());
  if (row?.code !== code) return false;
  return store.run('DELETE FROM email_code WHERE account_id = ? AND purpose = ?', id, purpose) === 1;
}

/** Enrols a factor and mails a code. Throws 409 if the factor is confirmed. */
function enrolEmail({ store, user }: AuthenticatedRequest): SandboxResponse {
  store.insert('email_factor', { account_id: user.id, confirmed_at: null });
  const pending = 'SELECT 1 FROM email_factor WHERE account_id = ? AND confirmed_at IS NULL';
  if (store.one(pending, user.id) === undefined)
    throw new SandboxError(409, 'the account already has a confirmed factor');
  sendEmailCode(store, user, 'enrolment');
  recordAuditEvent(store, user, 'factor.enrol', user.id);
  return successResponse(`a code was sent to ${user.email}`, 202);
}

function confirmEmail(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, fields } = request;
  if (!redeemEmailCode(store, user, 'enrolment', textField(fields, 'code')))
    throw new SandboxError(400, 'invalid or expired code');
  store.run('UPDATE email_factor SET confirmed_at = ? WHERE account_id = ?', now(), user.id);
  recordAuditEvent(store, user, 'factor.confirm', user.id);
  return listFactors(request);
}
