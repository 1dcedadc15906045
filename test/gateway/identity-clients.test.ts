import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const manifest = (identity: string, up: string) => `version: 1
listen: 127.0.0.1:0
server: { trustedProxies: [127.0.0.9/32] }
upstreams: { up: { url: '${up}' } }
auth:
  tokens:
    introspection: { endpoint: '${identity}/introspect', clientId: gateway, clientSecret: '\${SECRET}', timeout: 20s }
  role: { claim: /role, allow: [user], message: users only }
routes:
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
`;

let identity: Upstream;
let up: Upstream;
let gateway: TestGateway;
/** Requests for verification to which the identity service has not responded. */
let pending: ServerResponse[];
const sockets: Socket[] = [];

beforeEach(async () => {
  pending = [];
  identity = await startUpstream((_request, response, body) => {
    const token = new URLSearchParams(body.toString()).get('token') ?? '';
    response.setHeader('Content-Type', 'application/json');
    if (token.startsWith('good')) response.end('{"active":true,"role":"user"}');
    else pending.push(response);
  });
  up = await startUpstream();
  gateway = await startGateway(manifest(identity.url, up.url), { SECRET: 'secret' });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all([gateway.close(), identity.close(), up.close()]);
});

/** Sends a request with a token from an address of this machine. `received` returns the bytes of the response. */
function request(
  token: string,
  localAddress: string,
  write = head,
  ...headers: string[]
): { readonly socket: Socket; received(): string } {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
  socket.write(write('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`, ...headers));
  sockets.push(socket);
  return { socket, received: () => text };
}

describe('clients while the identity service hangs for invalid tokens', () => {
  it('a client that floods it does not block another client', async () => {
    for (let index = 0; index < 200; index += 1) request(`bad${index}`, '127.0.0.1');
    await eventually('the flood reaches its limit', () => pending.length === 32);
    for (let index = 0; index < 10; index += 1) {
      const other = request(`good${index}`, '127.0.0.2');
      await eventually('the other client is served', () => other.received().startsWith('HTTP/1.1 200'));
    }
    expect(pending.length).toBe(32);
  });

  it('the clients of one IPv6 network share the limit of one client', async () => {
    const from = (address: string, token: string) => request(token, '127.0.0.9', head, `X-Forwarded-For: ${address}`);
    for (let index = 1; index <= 100; index += 1) from(`2001:db8:1:2::${index}`, `bad${index}`);
    const status = () => gateway.gateway.plan.auth?.verifier.methods[0]?.status;
    await eventually('all of them wait', () => status()?.verifying === 100 && pending.length >= 32);
    const other = from('2001:db8:1:3::1', 'good');
    await eventually('another network is served', () => other.received().startsWith('HTTP/1.1 200'));
    expect(pending.length).toBe(32);
  });

  it('a client that disconnects cancels its verification without a refusal or an open breaker', async () => {
    const clients = Array.from({ length: 20 }, (_, index) => request(`bad${index}`, '127.0.0.1', keepAliveHead));
    await eventually('the identity service gets the requests', () => pending.length === 20);
    const closed = pending.map((response) => new Promise((resolve) => response.once('close', resolve)));
    for (const { socket } of clients) socket.destroy();
    await Promise.all(closed);
    await eventually(
      'no verification is in flight',
      () => gateway.gateway.plan.auth?.verifier.methods[0]?.status.verifying === 0,
    );
    await eventually('each request has its log line', () => gateway.lines.length === 20);
    for (const line of gateway.lines) expect(line['refusal']).toBeUndefined();
    const next = request('good', '127.0.0.1');
    await eventually('the next one is served', () => next.received().startsWith('HTTP/1.1 200'));
    expect(gateway.gateway.plan.auth?.verifier.methods[0]?.status.results.get('keys_unavailable')).toBeUndefined();
  });
});
