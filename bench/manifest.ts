import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const ISSUER = 'https://identity.bench';

export interface Keys {
  readonly token: string;
  readonly jwks: string;
}

/** Writes one ES256 key into the folder and signs a token with an allowed role. */
export async function createKeys(folder: string): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = join(folder, 'keys.json');
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] }));
  const token = await new SignJWT({ company_role: 'admin', company_id: 'bench' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(ISSUER)
    .setAudience('bench')
    .setSubject('someone')
    .setIssuedAt()
    .setExpirationTime('12h')
    .sign(privateKey);
  return { token, jwks };
}

/** Returns a manifest of `count` routes: four that the benchmarks use, and others like those of a platform. */
export function manifestText(port: number, upstream: string, jwks: string, count: number): string {
  const others = Array.from({ length: Math.max(0, count - 4) }, (_, index) => {
    const area = `area-${index % 40}`;
    return `  - { id: other-${index}, method: [GET, POST], path: '/api/${area}/things-${index}/{id}', upstream: up, access: protected }`;
  });
  return `version: 1
listen: 127.0.0.1:${port}
upstreams:
  up: { url: '${upstream}' }
auth:
  tokens:
    jwt: { jwks: '${jwks}', algorithms: [ES256], issuer: '${ISSUER}', audience: bench }
  role: { claim: /company_role, allow: [admin, user], message: company admins and users only }
schemas:
  Notification:
    type: object
    additionalProperties: false
    required: [email, subject, body]
    properties:
      email: { type: string, format: email, maxLength: 320 }
      subject: { type: string, maxLength: 998 }
      body: { type: string }
      tags: { type: array, maxItems: 20, items: { type: string, pattern: '^[a-z-]+$', maxLength: 40 } }
routes:
  - { id: public, method: GET, path: '/api/public/{thing}', upstream: up, access: public }
  - { id: protected, method: GET, path: '/api/protected/{thing}', upstream: up, access: protected }
  - { id: checked, method: POST, path: /api/checked, upstream: up, access: protected, body: { schema: { $ref: '#/schemas/Notification' } } }
  - { id: rest, method: any, path: '/api/rest/**', upstream: up, access: protected }
${others.join('\n')}
`;
}

/** Returns a body of 1 kB that is valid against the schema. */
export function notificationBody(): string {
  const mail = {
    email: 'signer@partner.example',
    subject: 'Please sign',
    body: '',
    tags: ['contract', 'first-reminder'],
  };
  return JSON.stringify({ ...mail, body: 'x'.repeat(1024 - JSON.stringify(mail).length) });
}
