import type { ServerResponse } from 'node:http';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import type { Verifier } from '../../../src/engine/tokens/verifier.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { verifierFor } from './keys.ts';

/** An identity service that verifies tokens. */
export interface Identity extends Upstream {
  /** Sends the response to the next requests. */
  respond: (response: ServerResponse, request: { readonly token: string; readonly url: string }) => void;
  /** The highest number of concurrent requests. */
  maxConcurrent: number;
  /** The number of connections that it accepted. */
  readonly connections: number;
}

/** Starts a service with configurable responses. It reads the token from a form or from the header. */
export async function startIdentity(body: unknown = { active: true, sub: 'someone' }): Promise<Identity> {
  let open = 0;
  const sockets = new WeakSet<object>();
  let connections = 0;
  const upstream = await startUpstream((request, response, requestBody) => {
    if (!sockets.has(request.socket)) connections += 1;
    sockets.add(request.socket);
    open += 1;
    identity.maxConcurrent = Math.max(identity.maxConcurrent, open);
    response.on('close', () => {
      open -= 1;
    });
    const form = new URLSearchParams(requestBody.toString()).get('token');
    const token = form ?? request.headers.authorization?.slice('Bearer '.length) ?? '';
    identity.respond(response, { token, url: request.url ?? '' });
  });
  const identity: Identity = {
    ...upstream,
    maxConcurrent: 0,
    get connections() {
      return connections;
    },
    respond: (response) => sendJson(response, body),
  };
  return identity;
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, type = 'application/json'): void {
  response.writeHead(status, { 'Content-Type': type });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Creates a verifier with introspection. `changes` override the default settings. */
export function introspecting(url: string, changes: object = {}): Verifier {
  const defaults = { endpoint: `${url}/introspect`, clientId: 'gateway', clientSecret: '${SECRET}' };
  return verifierFor({ introspection: { ...defaults, ...changes } }, { env: { SECRET: 'hidden one' } });
}

export function userinfoOf(url: string, changes: object = {}): Verifier {
  return verifierFor({ userinfo: { endpoint: `${url}/me`, ...changes } });
}

export async function outcomeOf(verifier: Verifier, token: string): Promise<TokenErrorCode | 'accepted'> {
  const verdict = await verifier.verify(token);
  return 'code' in verdict ? verdict.code : 'accepted';
}
