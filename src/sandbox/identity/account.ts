import { hash, randomBytes } from 'node:crypto';
import type { SandboxUser } from '../request.ts';
import { minutesFromNow, now, type Store } from '../store.ts';

/** Someone who can log in. */
export interface Account extends SandboxUser {
  readonly password: string;
  /** When its second factor came into force. */
  readonly factorSince: string | null;
}

type TicketPurpose = 'login challenge' | 'password reset' | 'email verification';

export function findAccount(store: Store, column: 'id' | 'email', value: string): Account | undefined {
  const columns = 'id, company_id AS companyId, email, role, password, totp_confirmed_at AS factorSince';
  return store.one<Account>(`SELECT ${columns} FROM account WHERE ${column} = ?`, value);
}

/** A random text by which the account shows, once, that an earlier step was its own. Of it the file keeps a hash. */
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

/** The account it was issued for; undefined when it is unknown, used or expired. Finding and deleting are one. */
export function redeemTicket(store: Store, ticket: string, purpose: TicketPurpose): Account | undefined {
  const spend = 'DELETE FROM ticket WHERE hash = ? AND purpose = ? AND expires_at > ? RETURNING account_id AS id';
  const spent = store.one<{ id: string }>(spend, hash('sha256', ticket), purpose, now());
  return spent && findAccount(store, 'id', spent.id);
}
