import type { SandboxUser } from '../request.ts';
import { minutesFromNow, now, type Store } from '../store.ts';

const CODE_MINUTES = 10;
/** A mailed code has six digits, so the number of attempts is limited. */
const MAX_ATTEMPTS = 3;

type CodePurpose = 'e-mail enrolment' | 'e-mail login' | 'WebAuthn enrolment' | 'WebAuthn login';

/** Stores a code for the account. It replaces the previous one for the same purpose. */
export function storeCode(store: Store, { id }: SandboxUser, purpose: CodePurpose, code: string): void {
  store.run('DELETE FROM one_time_code WHERE account_id = ? AND purpose = ?', id, purpose);
  const expires_at = minutesFromNow(CODE_MINUTES);
  store.insert('one_time_code', { account_id: id, purpose, code, attempts: 0, expires_at });
}

/** True if this is the stored code. Each code works once. */
export function redeemCode(store: Store, { id }: SandboxUser, purpose: CodePurpose, code: string): boolean {
  const attempt = `UPDATE one_time_code SET attempts = attempts + 1
    WHERE account_id = ? AND purpose = ? AND attempts < ? AND expires_at > ? RETURNING code`;
  const row = store.one<{ code: string }>(attempt, id, purpose, MAX_ATTEMPTS, now());
  if (row?.code !== code) return false;
  return store.run('DELETE FROM one_time_code WHERE account_id = ? AND purpose = ?', id, purpose) === 1;
}
