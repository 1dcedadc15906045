import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import { load } from '../../../src/load.ts';
import type { Verifier } from '../../../src/plan/tokens/verifier.ts';
import { AUDIENCE, ISSUER } from '../../support/issuer.ts';

export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: JWK;
}

export function ecKey(kid: string | undefined, curve = 'P-256'): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  return { privateKey, publicKey, jwk: { ...(publicKey.export({ format: 'jwk' }) as JWK), ...(kid && { kid }) } };
}

export function rsaKey(kid: string, modulusLength = 2048): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  return { privateKey, publicKey, jwk: { ...(publicKey.export({ format: 'jwk' }) as JWK), kid } };
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Claims that verify; those given here win, `undefined` removes one. */
export function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const usual = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'someone',
    iat: seconds(),
    exp: seconds() + 600,
    company_role: 'user',
  };
  return JSON.parse(JSON.stringify({ ...usual, ...changes }));
}

/** A token of any header and payload, as text or as a value, really signed. */
export function tokenOf(header: unknown, payload: unknown, key: SigningKey): string {
  const input = [header, payload]
    .map((part) => encode(typeof part === 'string' ? part : JSON.stringify(part)))
    .join('.');
  const isRsa = key.privateKey.asymmetricKeyType === 'rsa';
  const signature = sign(
    'sha256',
    Buffer.from(input),
    isRsa ? key.privateKey : { key: key.privateKey, dsaEncoding: 'ieee-p1363' },
  );
  return `${input}.${signature.toString('base64url')}`;
}

export function encode(text: string | Buffer): string {
  return Buffer.from(text as string).toString('base64url');
}

export interface KeysServer {
  readonly url: string;
  /** How often it was asked. */
  asked: number;
  /** The response to the next requests. */
  answer: (response: ServerResponse, request: IncomingMessage) => void;
  publish(...keys: SigningKey[]): void;
  close(): Promise<void>;
}

/** Starts a server of keys with configurable responses. */
export async function startKeysServer(...keys: SigningKey[]): Promise<KeysServer> {
  const http = createServer((request, response) => {
    response.on('error', () => undefined);
    server.asked += 1;
    server.answer(response, request);
  });
  const server: KeysServer = {
    url: '',
    asked: 0,
    answer: () => undefined,
    publish: (...published) => {
      const text = JSON.stringify({ keys: published.map(({ jwk }) => jwk) });
      server.answer = (response) => void response.end(text);
    },
    close: async () => {
      if (!http.listening) return;
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  server.publish(...keys);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(server, { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks.json` });
}

export interface Surroundings {
  readonly env?: Record<string, string>;
  /** The content of every file. */
  readonly file?: string;
  readonly upstreams?: object;
}

/** A verifier as a manifest with these tokens makes it. */
export function verifierFor(tokens: object, { env = {}, file = '', upstreams }: Surroundings = {}): Verifier {
  const text = JSON.stringify({
    version: 1,
    upstreams: upstreams ?? { up: { url: 'http://127.0.0.1:1' } },
    auth: { tokens, role: { claim: '/company_role', allow: ['user'], message: 'no' } },
    routes: [{ id: 'all', method: 'any', path: '/**', upstream: 'up', access: 'protected' }],
  });
  const { plan, problems } = load({ path: 'gateway.yaml', text }, { env, readFile: () => file });
  if (plan?.auth === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan.auth.verifier;
}

/** A verifier of JWTs; what is given here wins over the usual. */
export function verifierOf(changes: object = {}, file?: string, env?: Record<string, string>): Verifier {
  const usual = { algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE };
  const jwt = { ...usual, ...(file === undefined ? {} : { jwks: './keys.json' }), ...changes };
  return verifierFor({ jwt }, { ...(env && { env }), ...(file !== undefined && { file }) });
}

export function keyFile(...keys: readonly SigningKey[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
}
