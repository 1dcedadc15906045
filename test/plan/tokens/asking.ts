import type { ServerResponse } from 'node:http';
import type { TokenErrorCode } from '../../../src/plan/tokens/verification-result.ts';
import type { Verifier } from '../../../src/plan/tokens/verifier.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { verifierFor } from './keys.ts';

/** An identity service that verifies tokens. */
export interface Identity extends Upstream {
  /** Sends the response to the next requests. */
  respond: (response: ServerResponse, question: { readonly token: string; readonly url: string }) => void;
  /** The most concurrent requests. */
  busiest: number;
  /** Connections that were opened to it. */
  readonly connections: number;
}

/** Starts a service with configurable responses. It reads the token from a form or from the header. */
export async function startIdentity(answer: unknown = { active: true, sub: 'someone' }): Promise<Identity> {
  let open = 0;
  const sockets = new WeakSet<object>();
  let connections = 0;
  const upstream = await startUpstream((request, response, body) => {
    if (!sockets.has(request.socket)) connections += 1;
    sockets.add(request.socket);
    open += 1;
    identity.busiest = Math.max(identity.busiest, open);
    response.on('close', () => {
      open -= 1;
    });
    const form = new URLSearchParams(body.toString()).get('token');
    const token = form ?? request.headers.authorization?.slice('Bearer '.length) ?? '';
    identity.respond(response, { token, url: request.url ?? '' });
  });
  const identity: Identity = {
    ...upstream,
    busiest: 0,
    get connections() {
      return connections;
    },
    respond: (response) => sendJson(response, answer),
  };
  return identity;
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, type = 'application/json'): void {
  response.writeHead(status, { 'Content-Type': type });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Creates a verifier with introspection. `changes` override the default settings. */
export function introspecting(url: string, changes: object = {}): Verifier {
  const usual = { endpoint: `${url}/introspect`, clientId: 'gateway', clientSecret: '${SECRET}' };
  return verifierFor({ introspection: { ...usual, ...changes } }, { env: { SECRET: 'not told' } });
}

export function userinfoOf(url: string, changes: object = {}): Verifier {
  return verifierFor({ userinfo: { endpoint: `${url}/me`, ...changes } });
}

export async function outcomeOf(verifier: Verifier, token: string): Promise<TokenErrorCode | 'accepted'> {
  const verdict = await verifier.verify(token);
  return 'code' in verdict ? verdict.code : 'accepted';
}
