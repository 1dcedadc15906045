import type { Auth as AuthEntry } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { errorAt, type Finding } from '../problem/finding.ts';
import type { Auth, Verifier } from './plan.ts';
import { compileRole } from './role.ts';
import { createJwtVerifier } from './tokens.ts';

/** @param previous the verifier in force, kept when its definition did not change */
export function compileAuth(
  entry: AuthEntry,
  readFile: World['readFile'],
  previous: Verifier | undefined,
  findings: Finding[],
): Auth | undefined {
  const { jwt } = entry.tokens;
  if (jwt === undefined) return undefined;
  if (/^https?:/.test(jwt.jwks) && !isPlainUrl(jwt.jwks)) {
    const message =
      'this is no URL without credentials; write for example https://identity.example/.well-known/jwks.json';
    findings.push(errorAt(['auth', 'tokens', 'jwt', 'jwks'], 'jwks', message));
    return undefined;
  }
  try {
    return Object.freeze({
      verifier: createJwtVerifier(jwt, readFile, previous),
      role: compileRole(entry.role),
      challenge: `Bearer realm="${entry.realm}"`,
    });
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error
        ? `it cannot be read (${String(error.code)})`
        : 'it is no JWKS: an object with a list "keys"';
    const message = `the key file cannot be used: ${reason}; write a URL, or a file by a path relative to the manifest`;
    findings.push(errorAt(['auth', 'tokens', 'jwt', 'jwks'], 'jwks', message));
    return undefined;
  }
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '';
}
