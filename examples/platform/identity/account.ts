import { hash, randomBytes } from 'node:crypto';
import type { SandboxUser } from '../request.ts';
import { minutesFromNow, now, type Store } from '../store.ts';

/** Someone who can log in. */
export interface Account extends SandboxUser {
  readonly password: string;
}

type TicketPurpose = 'login challenge' | 'password reset' | 'email verification';

export function findAccount(store: Store, column: 'id' | 'email', value: string): Account | undefined {
  const columns = 'id, company_id AS companyId, email, role, password';
  return store.one<Account>(`SELECT ${columns} FROM account WHERE ${column} = ?`, value);
}

/** Issues a random, single-use ticket that proves that the account has completed a step. Stores only the hash. */
export function issueTicket(store: Store, { id }: Account, purpose: TicketPurpose, minutes: number): string {
  const ticket = randomBytes(24).toString('base64url');
  store.insert('ticket', {
    hash: hash('sha256', ticket),
    account_id: id,
    purpose,
    expires_at: minutesFromNow(minutes),
  });
  return ticket;
}

/**
 * Returns the account of a ticket; `undefined` if it is unknown, used or expired. One statement finds and deletes it,
 * so that nobody uses it twice.
 */
export function redeemTicket(store: Store, ticket: string, purpose: TicketPurpose): Account | undefined {
  const sql = 'DELETE FROM ticket WHERE hash = ? AND purpose = ? AND expires_at > ? RETURNING account_id AS id';
  const row = store.one<{ id: string }>(sql, hash('sha256', ticket), purpose, now());
  return row && findAccount(store, 'id', row.id);
}
