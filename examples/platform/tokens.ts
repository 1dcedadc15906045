import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { SandboxUser } from './request.ts';
import { requireFound } from './response.ts';
import type { Store } from './store.ts';

export const TOKEN_LIFETIME_SECONDS = 3600;
const ALGORITHM = 'ES256';
export const ISSUER = 'https://identity.signing.example';
export const AUDIENCE = 'signing-gateway';

/** Returns the key that verifies tokens, as a JSON Web Key (RFC 7517). */
export async function publicKeyJwk(store: Store): Promise<JWK> {
  const jwk = await exportJWK(createPublicKey(readPrivateKeyPem(store)));
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: 'sig' };
}

export async function issueToken(store: Store, user: SandboxUser): Promise<string> {
  const { kid = '' } = await publicKeyJwk(store);
  return new SignJWT({ company_role: user.role, company_id: user.companyId, email: user.email })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(user.id)
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_LIFETIME_SECONDS}s`)
    .setJti(randomUUID())
    .sign(createPrivateKey(readPrivateKeyPem(store)));
}

/** Returns the user of an `Authorization: Bearer` header; `undefined` if the token is not valid. */
export async function authenticate(store: Store, authorization: string | undefined): Promise<SandboxUser | undefined> {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const rules = { algorithms: [ALGORITHM], issuer: ISSUER, audience: AUDIENCE };
  const verified = await jwtVerify(token, createPublicKey(readPrivateKeyPem(store)), rules).catch(() => undefined);
  if (verified === undefined) return undefined;
  const { sub, email, company_role, company_id } = verified.payload;
  return { id: String(sub), email: String(email), role: String(company_role), companyId: String(company_id) };
}

/** Returns the signing key. The store holds it, so that tokens stay valid after a restart. */
function readPrivateKeyPem(store: Store): string {
  return requireFound(store.one<{ private_pem: string }>('SELECT private_pem FROM token_key'), 'key').private_pem;
}
