import { randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { User } from './call.ts';
import type { Store } from './store.ts';

export const TOKEN_LIFETIME_SECONDS = 3600;
const ALGORITHM = 'ES256';
const ISSUER = 'https://identity.signing.example';
const AUDIENCE = 'signing-gateway';

/** Issues access tokens and verifies them, with one key that lives in the store. */
export interface Tokens {
  /** The public key, as a JSON Web Key Set (RFC 7517). */
  readonly jwks: { readonly keys: readonly JWK[] };
  issue(user: User): Promise<string>;
  /** The user of an `Authorization: Bearer` header, or undefined when the token does not verify. */
  authenticate(authorization: string | undefined): Promise<User | undefined>;
}

export async function createTokens(store: Store): Promise<Tokens> {
  const { kid, jwk } = await readOrMakeKey(store);
  const { d: _private, ...publicPart } = jwk;
  const publicJwk = { ...publicPart, kid, alg: ALGORITHM, use: 'sig' };
  const privateKey = await importJWK(jwk, ALGORITHM);
  const publicKey = await importJWK(publicJwk, ALGORITHM);
  return {
    jwks: { keys: [publicJwk] },
    issue: (user) =>
      new SignJWT({ company_role: user.role, company_id: user.companyId, email: user.email })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(user.id)
        .setIssuedAt()
        .setExpirationTime(`${TOKEN_LIFETIME_SECONDS}s`)
        .setJti(randomUUID())
        .sign(privateKey),
    authenticate: async (authorization) => {
      const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) return undefined;
      const rules = { algorithms: [ALGORITHM], issuer: ISSUER, audience: AUDIENCE };
      const claims = await jwtVerify(token, publicKey, rules).then(
        (verified) => verified.payload,
        () => undefined,
      );
      return claims === undefined ? undefined : userOf(claims);
    },
  };
}

function userOf(claims: Readonly<Record<string, unknown>>): User {
  return {
    id: String(claims['sub']),
    email: String(claims['email']),
    role: String(claims['company_role']),
    companyId: String(claims['company_id']),
  };
}

/** Tokens outlive a restart, so the key does too. */
async function readOrMakeKey(store: Store): Promise<{ kid: string; jwk: JWK }> {
  const kept = store.one<{ kid: string; private_jwk: string }>('SELECT kid, private_jwk FROM signing_keys');
  if (kept !== undefined) return { kid: kept.kid, jwk: JSON.parse(kept.private_jwk) as JWK };
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  store.run('INSERT INTO signing_keys (kid, private_jwk) VALUES (?, ?)', kid, JSON.stringify(jwk));
  return { kid, jwk };
}
