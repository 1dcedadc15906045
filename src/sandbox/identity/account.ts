import { createHash, randomInt } from 'node:crypto';
import type { Actor } from '../audit.ts';
import type { Store } from '../store.ts';

/** Someone who can log in. */
export interface Account extends Actor {
  readonly id: string;
  readonly role: string;
  readonly password: string;
}

const SELECT = 'SELECT id, company_id AS companyId, email, role, password FROM accounts';

export function accountOfEmail(store: Store, email: string): Account | undefined {
  return store.one<Account>(`${SELECT} WHERE email = ?`, email.trim().toLowerCase());
}

export function accountOfId(store: Store, id: string): Account | undefined {
  return store.one<Account>(`${SELECT} WHERE id = ?`, id);
}

/** Six digits to be mailed. */
export function createCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** Codes and tokens that were mailed are kept as hashes: who reads the file cannot use them. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The moment so many minutes from now, as it is stored. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}
