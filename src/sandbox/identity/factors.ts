import { type Answer, data, Fault } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Route, User, UserCall } from '../call.ts';
import { text } from '../fields.ts';
import { now, type Store } from '../store.ts';
import { createTotpSecret, totpStep } from '../totp.ts';

/** The second factor: TOTP, one an account. It counts at login once a code has confirmed it. */
export const factorRoutes: readonly Route[] = [
  ['GET /api/v1/mfa/factors', 'protected', list],
  ['POST /api/v1/mfa/totp/enroll', 'protected', enrol],
  ['POST /api/v1/mfa/totp/confirm', 'protected', confirm],
];

/** Whether the account's factor shows this code now. A code is taken once. */
export function spendCode(store: Store, { id }: User, code: string): boolean {
  const select =
    'SELECT totp_secret AS secret, totp_step AS step FROM account WHERE id = ? AND totp_secret IS NOT NULL';
  const factor = store.one<{ secret: string; step: number }>(select, id);
  const step = factor && totpStep(factor.secret, code, Date.now(), factor.step);
  if (step === undefined) return false;
  return store.run('UPDATE account SET totp_step = ? WHERE id = ?', step, id) === 1;
}

function list({ store, user }: UserCall): Answer {
  const select = `SELECT 'totp' AS kind, totp_confirmed_at AS confirmed_at FROM account
    WHERE id = ? AND totp_secret IS NOT NULL`;
  return data(store.all(select, user.id));
}

/** Takes the place of an unconfirmed factor, never of a confirmed one. */
function enrol({ store, user }: UserCall): Answer {
  const secret = createTotpSecret();
  const update = 'UPDATE account SET totp_secret = ?, totp_step = 0 WHERE id = ? AND totp_confirmed_at IS NULL';
  if (store.run(update, secret, user.id) === 0) throw new Fault(409, 'the account has its factor already');
  audit(store, user, 'factor.enrol', user.id);
  const label = encodeURIComponent(`Signing sandbox:${user.email}`);
  return data({ secret, otpauth_url: `otpauth://totp/${label}?secret=${secret}&issuer=Signing%20sandbox` }, 201);
}

function confirm(call: UserCall): Answer {
  const { store, user, fields } = call;
  if (!spendCode(store, user, text(fields, 'code'))) throw new Fault(400, 'invalid code');
  store.run('UPDATE account SET totp_confirmed_at = ? WHERE id = ?', now(), user.id);
  audit(store, user, 'factor.confirm', user.id);
  return list(call);
}
