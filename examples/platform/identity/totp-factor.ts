import { recordAuditEvent } from '../audit.ts';
import { textField } from '../fields.ts';
import {
  type AuthenticatedRequest,
  jsonBody,
  type SandboxRequest,
  type SandboxRoute,
  type SandboxUser,
} from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import { now, type Store } from '../store.ts';
import { createTotpSecret, isTotpSecret, STEP_SECONDS, totp, totpStep } from '../totp.ts';
import { listFactors } from './factors.ts';

/** Routes of the TOTP factor, and a stand-in for the app of the user that shows the codes. */
export const totpRoutes: readonly SandboxRoute[] = [
  ['POST /api/v1/mfa/totp/enroll', 'protected', enrolTotp, { summary: 'Enrol a TOTP factor', status: 201 }],
  [
    'POST /api/v1/mfa/totp/confirm',
    'protected',
    confirmTotp,
    { summary: 'Confirm a TOTP factor with its first code', body: jsonBody({ code: '123456' }) },
  ],
  ['GET /authenticator/:id', 'public', showCode, { summary: 'Show the current TOTP code of a secret' }],
];

/** True if this is the current code of the factor of the account. Each code works once. */
export function redeemTotpCode(store: Store, { id }: SandboxUser, code: string): boolean {
  const select =
    'SELECT totp_secret AS secret, totp_step AS step FROM account WHERE id = ? AND totp_secret IS NOT NULL';
  const factor = store.one<{ secret: string; step: number }>(select, id);
  const step = factor && totpStep(factor.secret, code, Date.now(), factor.step);
  if (step === undefined) return false;
  return store.run('UPDATE account SET totp_step = ? WHERE id = ?', step, id) === 1;
}

/** Enrols a factor. It replaces an unconfirmed one, never a confirmed one. */
function enrolTotp({ store, user }: AuthenticatedRequest): SandboxResponse {
  const secret = createTotpSecret();
  const update = 'UPDATE account SET totp_secret = ?, totp_step = 0 WHERE id = ? AND totp_confirmed_at IS NULL';
  if (store.run(update, secret, user.id) === 0)
    throw new SandboxError(409, 'the account already has a confirmed factor');
  recordAuditEvent(store, user, 'factor.enrol', user.id);
  const label = encodeURIComponent(`Signing sandbox:${user.email}`);
  return dataResponse(
    { secret, otpauth_url: `otpauth://totp/${label}?secret=${secret}&issuer=Signing%20sandbox` },
    201,
  );
}

function confirmTotp(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, fields } = request;
  if (!redeemTotpCode(store, user, textField(fields, 'code'))) throw new SandboxError(400, 'invalid code');
  store.run('UPDATE account SET totp_confirmed_at = ? WHERE id = ?', now(), user.id);
  recordAuditEvent(store, user, 'factor.confirm', user.id);
  return listFactors(request);
}

function showCode({ id: secret }: SandboxRequest): SandboxResponse {
  if (!isTotpSecret(secret)) throw new SandboxError(400, 'the secret must be base32, as the enrolment returned it');
  const time = Date.now();
  const seconds_left = STEP_SECONDS - (Math.floor(time / 1000) % STEP_SECONDS);
  return dataResponse({ code: totp(secret, time), seconds_left });
}
