import type { KeyObject } from 'node:crypto';

/** Read with the first token, while its issuer is asked for keys: to check a manifest takes none of it. */
let library: Promise<typeof import('jose')> | undefined;

/**
 * Whether a key has signed a JWS in compact form (RFC 7515 section 5.2) by this very algorithm. Whatever else
 * the library or the platform's cryptography refuses: it has not.
 */
export async function isSignedBy(key: KeyObject, token: string, algorithm: string): Promise<boolean> {
  library ??= import('jose');
  const { compactVerify } = await library;
  try {
    await compactVerify(token, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
}
