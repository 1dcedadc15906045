import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { load } from '../../engine/load.ts';
import { WARM_UP_HOST, type WarmUpTraffic } from './warm-up.ts';

/** Returns requests for the steps that most manifests use, with a key that nobody else has. @param upstream its URL */
export function createWarmUpTraffic(upstream: string): WarmUpTraffic {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256' }];
  const source = { path: 'warm-up.yaml', text: manifestText(JSON.stringify({ keys }), upstream) };
  const readFile = (): string => {
    throw Object.assign(new Error('the warm-up has no files'), { code: 'ENOENT' });
  };
  const loaded = load(source, { env: {}, readFile, listFolder: () => [] });
  if (loaded.plan === undefined) throw new Error('the manifest of the warm-up does not load');
  return { input: loaded.compileInput, requests: requestsWith(signToken(privateKey)) };
}

function manifestText(jwks: string, upstream: string): string {
  return `version: 1
upstreams: { up: { url: '${upstream}' } }
auth:
  tokens: { jwt: { jwks: ${jwks}, algorithms: [ES256], issuer: https://warm-up.example, audience: warm-up } }
  role: { claim: /role, allow: [admin], message: admins only }
rateLimits: { callers: { key: subject, allow: 1000 per 1s } }
schemas:
  Contact:
    type: object
    additionalProperties: false
    required: [email]
    properties: { email: { type: string, format: email, maxLength: 320 }, age: { type: integer } }
routes:
  - { id: read, method: GET, path: '/contacts/{id}', upstream: up, access: protected, rateLimits: [callers] }
  - { id: write, method: POST, path: /contacts, upstream: up, access: protected, body: { schema: { $ref: '#/schemas/Contact' } } }
  - { id: public, method: GET, path: '/public/{id}', upstream: up, access: public }
`;
}

/** Returns a token (RFC 7519) that is valid for a minute. */
function signToken(key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { iss: 'https://warm-up.example', aud: 'warm-up', sub: 'warm-up', role: 'admin', exp };
  const text = `${part({ alg: 'ES256' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

function requestsWith(token: string): string[] {
  const authorization = `Authorization: Bearer ${token}\r\nUser-Agent: warm-up\r\nAccept: */*\r\n`;
  const body = JSON.stringify({ email: 'signer@partner.example', age: 40 });
  return [
    `GET /contacts/17?fields=name HTTP/1.1\r\nHost: gateway\r\n${authorization}\r\n`,
    `POST /contacts HTTP/1.1\r\nHost: gateway\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'GET /public/17 HTTP/1.1\r\nHost: gateway\r\nAccept: */*\r\n\r\n',
  ];
}

const RESPONSE = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Content-Length: 2',
  'Date: Thu, 01 Jan 2026 00:00:00 GMT',
  'Vary: Accept-Language',
  '',
  '{}',
].join('\r\n');

/** Starts an upstream that sends the same response to each read. */
export async function startWarmUpUpstream() {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(RESPONSE));
  });
  server.listen(0, WARM_UP_HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://${WARM_UP_HOST}:${port}`, close: () => void server.close() };
}
