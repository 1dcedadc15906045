import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { Verifier } from '../../../src/engine/tokens/verifier.ts';
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

/** Returns valid claims with some changes; `undefined` removes a claim. */
export function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const defaults = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'someone',
    iat: seconds(),
    exp: seconds() + 600,
    company_role: 'user',
  };
  return JSON.parse(JSON.stringify({ ...defaults, ...changes }));
}

/** Signs a token with any header and payload, each a text or a value. */
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
  /** The number of received requests. */
  requestCount: number;
  /** Sends the response to the next requests. */
  respond: (response: ServerResponse, request: IncomingMessage) => void;
  publish(...keys: SigningKey[]): void;
  close(): Promise<void>;
}

/** Starts a key server with configurable responses. */
export async function startKeysServer(...keys: SigningKey[]): Promise<KeysServer> {
  const http = createServer((request, response) => {
    response.on('error', () => undefined);
    server.requestCount += 1;
    server.respond(response, request);
  });
  const server: KeysServer = {
    url: '',
    requestCount: 0,
    respond: () => undefined,
    publish: (...published) => {
      const text = JSON.stringify({ keys: published.map(({ jwk }) => jwk) });
      server.respond = (response) => void response.end(text);
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

export interface VerifierInputs {
  readonly env?: Record<string, string>;
  /** The content of every file. */
  readonly file?: string;
  readonly upstreams?: object;
}

/** Compiles the verifier of a manifest with these tokens. */
export function verifierFor(tokens: object, inputs: VerifierInputs = {}): Verifier {
  const { plan } = manifestFor(tokens, inputs);
  if (plan.auth === undefined) throw new Error('the manifest has no auth');
  return plan.auth.verifier;
}

/** Compiles a manifest with these tokens. */
export function manifestFor(
  tokens: object,
  { env = {}, file = '', upstreams }: VerifierInputs = {},
  previous?: Plan,
): PlannedManifest {
  const text = JSON.stringify({
    version: 1,
    upstreams: upstreams ?? { up: { url: 'http://127.0.0.1:1' } },
    auth: { tokens, role: { claim: '/company_role', allow: ['user'], message: 'no' } },
    routes: [{ id: 'all', method: 'any', path: '/**', upstream: 'up', access: 'protected' }],
  });
  const loaded = load({ path: 'gateway.yaml', text }, { env, readFile: () => file }, previous);
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded;
}

/** Compiles a verifier of JWTs. `changes` override the default settings. */
export function verifierOf(changes: object = {}, file?: string, env?: Record<string, string>): Verifier {
  const defaults = { algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE };
  const jwt = { ...defaults, ...(file === undefined ? {} : { jwks: './keys.json' }), ...changes };
  return verifierFor({ jwt }, { ...(env && { env }), ...(file !== undefined && { file }) });
}

export function keyFile(...keys: readonly SigningKey[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
}
