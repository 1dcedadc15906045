import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Running, startGateway } from '../support/gateway.ts';
import { head, keptHead } from '../support/raw.ts';
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
let gateway: Running;
let owed: ServerResponse[];
const sockets: Socket[] = [];

beforeEach(async () => {
  owed = [];
  identity = await startUpstream((_request, response, body) => {
    const token = new URLSearchParams(body.toString()).get('token') ?? '';
    response.setHeader('Content-Type', 'application/json');
    if (token.startsWith('good')) response.end('{"active":true,"role":"user"}');
    else owed.push(response);
  });
  up = await startUpstream();
  gateway = await startGateway(manifest(identity.url, up.url), { SECRET: 'secret' });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all([gateway.close(), identity.close(), up.close()]);
});

/** A request with a token from an address of this machine; `said` is what came back so far. */
function request(
  token: string,
  localAddress: string,
  write = head,
  ...headers: string[]
): { readonly socket: Socket; said(): string } {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
  socket.write(write('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`, ...headers));
  sockets.push(socket);
  return { socket, said: () => text };
}

describe('clients while the identity service hangs for made-up tokens', () => {
  it('one client that floods it does not shut out another', async () => {
    for (let index = 0; index < 200; index += 1) request(`bad${index}`, '127.0.0.1');
    await eventually('the flood has its share', () => owed.length === 32);
    for (let index = 0; index < 10; index += 1) {
      const other = request(`good${index}`, '127.0.0.2');
      await eventually('the other client is served', () => other.said().startsWith('HTTP/1.1 200'));
    }
    expect(owed.length).toBe(32);
  });

  it('the clients of one IPv6 network have the share of one client', async () => {
    const from = (address: string, token: string) => request(token, '127.0.0.9', head, `X-Forwarded-For: ${address}`);
    for (let index = 1; index <= 100; index += 1) from(`2001:db8:1:2::${index}`, `bad${index}`);
    const status = () => gateway.gateway.plan.auth?.verifier.status;
    await eventually('all of them wait', () => status()?.verifying === 100 && owed.length >= 32);
    const other = from('2001:db8:1:3::1', 'good');
    await eventually('another network is served', () => other.said().startsWith('HTTP/1.1 200'));
    expect(owed.length).toBe(32);
  });

  it('a client that leaves ends its question, gets no refusal and opens no breaker', async () => {
    const clients = Array.from({ length: 20 }, (_, index) => request(`bad${index}`, '127.0.0.1', keptHead));
    await eventually('they are asked', () => owed.length === 20);
    const closed = owed.map((response) => new Promise((resolve) => response.once('close', resolve)));
    for (const { socket } of clients) socket.destroy();
    await Promise.all(closed);
    await eventually(
      'nothing is verified any longer',
      () => gateway.gateway.plan.auth?.verifier.status.verifying === 0,
    );
    await eventually('each has its line', () => gateway.lines.length === 20);
    for (const line of gateway.lines) expect(line['refusal']).toBeUndefined();
    const next = request('good', '127.0.0.1');
    await eventually('the next one is served', () => next.said().startsWith('HTTP/1.1 200'));
    expect(gateway.gateway.plan.auth?.verifier.status.results.get('keys_unavailable')).toBeUndefined();
  });
});
