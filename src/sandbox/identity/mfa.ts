import { randomUUID } from 'node:crypto';
import { type Answer, data, Fault, found, noContent } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, text, type User } from '../call.ts';
import { sendMail } from '../mail.ts';
import type { Route } from '../server.ts';
import { now, type Store } from '../store.ts';
import { createTotpSecret, totpStep } from '../totp.ts';
import { createCode, hashSecret, inMinutes } from './account.ts';

const CONFIRM_ATTEMPTS = 5;
const CONFIRM_MINUTES = 10;
const COLUMNS = 'id, kind, confirmed_at, created_at';

/** Enrolment of second factors. One counts at login only once a code has confirmed it. */
export function mfaRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/v1/mfa/factors', 'protected', (_call, user) => list(store, user)],
    ['DELETE', '/api/v1/mfa/factors/:id', 'protected', (call, user) => remove(store, call, user)],
    ['POST', '/api/v1/mfa/totp/enroll', 'protected', (_call, user) => enrolTotp(store, user)],
    ['POST', '/api/v1/mfa/totp/confirm', 'protected', (call, user) => confirm(store, call, user, 'totp')],
    ['POST', '/api/v1/mfa/email/enroll', 'protected', (_call, user) => enrolEmail(store, user)],
    ['POST', '/api/v1/mfa/email/confirm', 'protected', (call, user) => confirm(store, call, user, 'email')],
    ['POST', '/api/v1/mfa/webauthn/challenge', 'protected', refuseWebauthn],
  ];
}

type Kind = 'totp' | 'email';

function list(store: Store, user: User): Answer {
  return data(store.all(`SELECT ${COLUMNS} FROM factors WHERE account_id = ? ORDER BY rowid`, user.id));
}

function remove(store: Store, call: Call, user: User): Answer {
  const id = call.param('id');
  found(store.run('DELETE FROM factors WHERE id = ? AND account_id = ?', id, user.id) || undefined, 'factor');
  audit(store, user, 'factor.delete', id);
  return noContent;
}

function enrolTotp(store: Store, user: User): Answer {
  const secret = createTotpSecret();
  enrol(store, user, 'totp', secret);
  const label = encodeURIComponent(`Signing sandbox:${user.email}`);
  return data({ secret, otpauth_url: `otpauth://totp/${label}?secret=${secret}&issuer=Signing%20sandbox` }, 201);
}

function enrolEmail(store: Store, user: User): Answer {
  const code = createCode();
  enrol(store, user, 'email', hashSecret(code));
  sendMail(store, { to: user.email, subject: 'Confirm your e-mail factor', body: code });
  return data({ email: user.email, expires_in: CONFIRM_MINUTES * 60 }, 201);
}

/** Takes the place of an unconfirmed factor, never of a confirmed one. */
function enrol(store: Store, user: User, kind: Kind, secret: string): void {
  const confirmed = 'SELECT 1 FROM factors WHERE account_id = ? AND kind = ? AND confirmed_at IS NOT NULL';
  if (store.one(confirmed, user.id, kind) !== undefined)
    throw new Fault(409, `a ${kind} factor exists: delete it first`);
  store.run('DELETE FROM factors WHERE account_id = ? AND kind = ?', user.id, kind);
  const id = randomUUID();
  store.run('INSERT INTO factors VALUES (?, ?, ?, ?, NULL, 0, 0, ?)', id, user.id, kind, secret, now());
  audit(store, user, 'factor.enrol', id);
}

async function confirm(store: Store, call: Call, user: User, kind: Kind): Promise<Answer> {
  const code = text(await call.json(), 'code');
  const factor = store.one<{ id: string; secret: string }>(
    `UPDATE factors SET attempts = attempts + 1 WHERE account_id = ? AND kind = ? AND confirmed_at IS NULL
     AND attempts < ${CONFIRM_ATTEMPTS} AND created_at > ? RETURNING id, secret`,
    user.id,
    kind,
    inMinutes(-CONFIRM_MINUTES),
  );
  if (factor === undefined) throw new Fault(409, `no ${kind} factor waits for a code: enrol one first`);
  const step = kind === 'totp' ? totpStep(factor.secret, code, Date.now(), 0) : undefined;
  if (step === undefined && factor.secret !== hashSecret(code)) throw new Fault(400, 'invalid code');
  store.run('UPDATE factors SET confirmed_at = ?, last_step = ? WHERE id = ?', now(), step ?? 0, factor.id);
  audit(store, user, 'factor.confirm', factor.id);
  return data(store.one(`SELECT ${COLUMNS} FROM factors WHERE id = ?`, factor.id));
}

function refuseWebauthn(): Answer {
  throw new Fault(501, 'the sandbox has no WebAuthn: it would need a browser and an authenticator');
}
