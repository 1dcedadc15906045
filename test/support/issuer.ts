import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const ISSUER = 'https://identity.test';
export const AUDIENCE = 'gateway-test';

export interface Issuer {
  readonly jwksUrl: string;
  /** The published keys. */
  keys: JWK[];
  /** The number of requests for the keys. */
  fetches: number;
  readonly privateKey: CryptoKey;
  /** Signs a token. `claims` replace the default claims, and `undefined` removes one. */
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Starts an HTTP server with the keys of an issuer of ES256 tokens. */
export async function startIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const published = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const server = createServer((_request, response) => {
    issuer.fetches += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: issuer.keys }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer: Issuer = {
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    keys: [published],
    fetches: 0,
    privateKey,
    token: async (claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const defaults = { iss: ISSUER, aud: AUDIENCE, sub: 'someone', iat: now, exp: now + 600, company_role: 'user' };
      const payload = JSON.parse(JSON.stringify({ ...defaults, ...claims })) as JWTPayload;
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(privateKey);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;
}
