import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const ISSUER = 'https://identity.bench';

export interface Keys {
  readonly token: string;
  readonly jwks: string;
}

/** Writes one ES256 key into a folder of its own, which the gateway watches, and signs a token with an allowed role. */
export async function createKeys(folder: string): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = join(mkdtempSync(join(folder, 'keys-')), 'keys.json');
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

/** The body schemas of the other routes: none, a reference to one schema, or a different one for each route. */
export type BodySchemas = 'none' | 'shared' | 'distinct';

export interface ManifestOptions {
  readonly port: number;
  readonly upstream: string;
  /** The file of the keys. */
  readonly jwks: string;
  /** The number of routes. */
  readonly routes: number;
  readonly bodySchemas?: BodySchemas;
  /** The rate limit of one more protected GET. */
  readonly rateLimit?: string;
  readonly workers?: number;
}

/** Returns a manifest with four routes that the benchmarks use, and others like those of a platform. */
export function manifestText(options: ManifestOptions): string {
  const { port, upstream, jwks, routes: count, bodySchemas = 'none', rateLimit, workers = 1 } = options;
  const others = Array.from({ length: Math.max(0, count - 4) }, (_, index) => {
    const area = `area-${index % 40}`;
    return `  - { id: other-${index}, method: [GET, POST], path: '/api/${area}/things-${index}/{id}', upstream: up, access: protected${bodyText(bodySchemas, index)} }`;
  });
  return `version: 1
listen: 127.0.0.1:${port}
server: { workers: ${workers} }
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
${rateLimit === undefined ? '' : limitedRoute(rateLimit)}`;
}

function limitedRoute(rateLimit: string): string {
  return `  - { id: limited, method: GET, path: '/api/limited/{thing}', upstream: up, access: protected, rateLimits: [caller] }
rateLimits:
  caller: ${rateLimit}
`;
}

function bodyText(bodySchemas: BodySchemas, index: number): string {
  if (bodySchemas === 'none') return '';
  const schema = bodySchemas === 'shared' ? "{ $ref: '#/schemas/Notification' }" : distinctSchema(index);
  return `, body: { schema: ${schema} }`;
}

function distinctSchema(index: number): string {
  const properties = [
    `name: { type: string, maxLength: ${index + 1} }`,
    'mail: { type: string, format: email }',
    'age: { type: integer, maximum: 150 }',
    'kind: { enum: [contract, offer] }',
    "code: { type: string, pattern: '^[a-z]{1,20}$' }",
    'note: { type: string, maxLength: 4000 }',
  ];
  return `{ type: object, additionalProperties: false, required: [name], properties: { ${properties.join(', ')} } }`;
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
