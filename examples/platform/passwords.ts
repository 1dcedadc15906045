import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** Returns the salt and the scrypt key of a password as `salt.key`, both base64url. */
export function hashPassword(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const key = scryptSync(password.normalize(), salt, KEY_BYTES);
  return `${salt.toString('base64url')}.${key.toString('base64url')}`;
}

/**
 * True if the password matches the stored hash. Without a hash it does the same work, so that timing does not reveal
 * which accounts exist.
 */
export function isCorrectPassword(password: string, stored: string | undefined): boolean {
  const [salt = '', key = ''] = (stored ?? '').split('.');
  const derived = scryptSync(password.normalize(), Buffer.from(salt, 'base64url'), KEY_BYTES);
  const expected = Buffer.from(key, 'base64url');
  return expected.length === KEY_BYTES && timingSafeEqual(derived, expected);
}
