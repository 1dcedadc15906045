import { createHmac, randomBytes } from 'node:crypto';

export const STEP_SECONDS = 30;
const STEP_MS = STEP_SECONDS * 1000;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the six-digit code of a base32 secret at a time (RFC 6238: SHA-1, steps of 30 s). */
export function totp(secret: string, atMs: number): string {
  return codeOfStep(secret, Math.floor(atMs / STEP_MS));
}

/**
 * Returns the time step of a code that is at most one step early or late, or `undefined`. Ignores steps up to `lastStep`: a
 * caller that stores the returned step accepts each code only once.
 */
export function totpStep(secret: string, code: string, atMs: number, lastStep: number): number | undefined {
  const step = Math.floor(atMs / STEP_MS);
  return [step - 1, step, step + 1].find((near) => near > lastStep && codeOfStep(secret, near) === code);
}

/** Creates a secret of 160 bits, in base32. */
export function createTotpSecret(): string {
  return Array.from(randomBytes(32), (byte) => ALPHABET[byte % 32]).join('');
}

/** True if the text is base32 without padding, as the secrets are. */
export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7]{16,128}$/.test(text);
}

function codeOfStep(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  // Dynamic truncation, RFC 4226 section 5.3.
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
