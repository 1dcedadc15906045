import type { KeyObject } from 'node:crypto';
import { compactVerify } from 'jose';

/**
 * Whether a key has signed a JWS in compact form (RFC 7515 section 5.2) by this very algorithm. Whatever else
 * the library or the platform's cryptography refuses: it has not.
 */
export async function isSignedBy(key: KeyObject, token: string, algorithm: string): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
}
