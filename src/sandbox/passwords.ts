import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** Salt and scrypt key of a password, both base64url, as `salt.key`. */
export function hashPassword(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const key = scryptSync(password.normalize(), salt, KEY_BYTES);
  return `${salt.toString('base64url')}.${key.toString('base64url')}`;
}

/** Whether the password is the stored one. Without a stored one the same work is done, so time tells nothing. */
export function isCorrectPassword(password: string, stored: string | undefined): boolean {
  const [salt = '', key = ''] = (stored ?? '').split('.');
  const derived = scryptSync(password.normalize(), Buffer.from(salt, 'base64url'), KEY_BYTES);
  const expected = Buffer.from(key, 'base64url');
  return expected.length === KEY_BYTES && timingSafeEqual(derived, expected);
}
