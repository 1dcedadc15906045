import { recordAuditEvent } from '../audit.ts';
import { textField } from '../fields.ts';
import type { AuthenticatedRequest, SandboxRoute, SandboxUser } from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import { now, type Store } from '../store.ts';
import { createTotpSecret, totpStep } from '../totp.ts';

/** Routes of the second factor: one TOTP factor per account. Login requires it after a code has confirmed it. */
export const factorRoutes: readonly SandboxRoute[] = [
  ['GET /api/v1/mfa/factors', 'protected', listFactors],
  ['POST /api/v1/mfa/totp/enroll', 'protected', enrolTotp],
  ['POST /api/v1/mfa/totp/confirm', 'protected', confirmTotp],
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

function listFactors({ store, user }: AuthenticatedRequest): SandboxResponse {
  const select = `SELECT 'totp' AS kind, totp_confirmed_at AS confirmed_at FROM account
    WHERE id = ? AND totp_secret IS NOT NULL`;
  return dataResponse(store.all(select, user.id));
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
