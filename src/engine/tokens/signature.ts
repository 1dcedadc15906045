import type { KeyObject } from 'node:crypto';

/** Loaded with the first token, so that `check` and `lint` do not load it. */
let library: Promise<typeof import('jose')> | undefined;

/**
 * Returns true if a key has signed a compact JWS (RFC 7515 section 5.2) with exactly this algorithm. Any error of the library
 * means false.
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
