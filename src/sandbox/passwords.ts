import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Uint8Array, number, Buffer>(scrypt);
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** Salt and scrypt key of a password, both base64url, as `salt.key`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password.normalize(), salt, KEY_BYTES);
  return `${salt.toString('base64url')}.${key.toString('base64url')}`;
}

/** Whether the password is the stored one. Without a stored one the same work is done, so time tells nothing. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', key = ''] = (stored ?? '').split('.');
  const derived = await derive(password.normalize(), Buffer.from(salt, 'base64url'), KEY_BYTES);
  const expected = Buffer.from(key, 'base64url');
  return expected.length === KEY_BYTES && timingSafeEqual(derived, expected);
}
