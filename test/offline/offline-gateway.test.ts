import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { MemorySocket } from '../../src/prove/offline/memory-socket.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { createPair } from '../support/certificate.ts';
import { worldOf } from '../support/gateway.ts';

const MANIFEST = `version: 1
upstreams:
  up:
    urls: [http://10.0.0.1:7001, http://10.0.0.2:7001]
    timeouts: { connect: 1ms, response: 1ms, total: 1ms }
    health: { path: /healthz, interval: 1ms }
    breaker: { failures: 1 }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [user], message: users only }
routes:
  - { id: open, method: any, path: /open, upstream: up, access: public, timeout: 1ms }
  - { id: small, method: POST, path: /small, upstream: up, access: public, body: { maxBytes: 64KB } }
  - { id: closed, method: any, path: /closed, upstream: up, access: protected }
  - { id: socket, method: GET, path: /socket, upstream: up, access: public, websocket: true }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
`;

function planOf(text = MANIFEST, files: Record<string, string> = {}): Plan {
  const { plan, problems } = load({ path: 'gateway.yaml', text }, worldOf({}, files));
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan;
}

const GET = { method: 'GET', target: '/open', headers: [] as string[], body: undefined };
const POST = { ...GET, method: 'POST' };

describe('the offline gateway', () => {
  const tokens = new StubVerifier();
  const send = createOfflineGateway(planOf(), tokens);

  it('forwards to the first endpoint, however short the time limits are', async () => {
    const { response, upstreamRequest, record } = await send({ ...GET, target: '/open?a=b' });
    expect([response?.status, record.route?.id]).toEqual([200, 'open']);
    expect([upstreamRequest?.origin, upstreamRequest?.method, upstreamRequest?.url]).toEqual([
      'http://10.0.0.1:7001',
      'GET',
      '/open?a=b',
    ]);
    expect((await send(GET)).upstreamRequest?.origin).toBe('http://10.0.0.1:7001');
  });

  it('passes the response of the upstream to the client', async () => {
    const upstream = { status: 203, headers: ['X-A', 'b', 'X-A', 'c'], body: Buffer.from('hello') };
    const { response } = await send(GET, upstream);
    expect([response?.status, response?.body.toString()]).toEqual([203, 'hello']);
    expect(response?.headers).toEqual(expect.arrayContaining(['X-A', 'b', 'c']));
  });

  it('forwards large bodies in both directions', async () => {
    const body = Buffer.alloc(5_000_000, 'a');
    const { response, upstreamRequest } = await send({ ...POST, body }, { status: 200, headers: [], body });
    expect([upstreamRequest?.body.equals(body), response?.body.equals(body)]).toEqual([true, true]);
  });

  it.each([
    [65_536, 200],
    [65_537, 413],
  ])('responds to a body of %i bytes with %i, for both kinds of framing', async (size, status) => {
    const request = { ...POST, target: '/small', body: Buffer.alloc(size) };
    expect((await send(request)).response?.status).toBe(status);
    expect((await send({ ...request, headers: ['Transfer-Encoding', 'chunked'] })).response?.status).toBe(status);
  });

  it('pads a body to its Content-Length, and disconnects if that exceeds the limit', async () => {
    const padded = await send({ ...POST, headers: ['Content-Length', '10'], body: Buffer.from('abc') });
    expect(padded.upstreamRequest?.body.toString()).toBe('abc       ');
    const endless = await send({ ...POST, headers: ['Content-Length', '1000000000000'], body: undefined });
    expect([endless.response, endless.record.refusal?.code]).toEqual([undefined, undefined]);
    const refused = await send({ ...POST, target: '/small', headers: ['Content-Length', '1000000000000'] });
    expect(refused.record.refusal?.code).toBe('body_too_large');
  });

  it('refuses a malformed request', async () => {
    expect((await send({ ...GET, target: '/a b' })).record.refusal?.code).toBe('message_malformed');
    expect((await send({ ...GET, method: 'CONNECT', target: 'a:1' })).record.refusal?.code).toBe('method_not_allowed');
    expect((await send({ ...GET, headers: ['X', 'y'.repeat(20_000)] })).record.refusal?.code).toBe('headers_too_large');
  });

  it('verifies the configured tokens and no others', async () => {
    tokens.setToken('good', { claims: { role: 'user', sub: 'someone' } });
    tokens.setToken('other', { claims: { role: 'guest' } });
    tokens.setToken('old', { code: 'token_expired' });
    const sendToken = (token: string) =>
      send({ ...GET, target: '/closed', headers: ['Authorization', `Bearer ${token}`] });
    expect((await sendToken('good')).principals.map(({ claims }) => claims['role'])).toEqual(['user']);
    expect((await sendToken('other')).record.refusal?.code).toBe('role_not_allowed');
    expect((await sendToken('old')).record.refusal?.reason).toBe('token_expired');
    expect((await sendToken('unknown')).record.refusal?.reason).toBe('signature_wrong');
  });

  it('passes a WebSocket handshake to the upstream, and its response to the client', async () => {
    const headers = [
      'Connection',
      'Upgrade',
      'Upgrade',
      'websocket',
      'Sec-WebSocket-Version',
      '13',
      'Sec-WebSocket-Key',
      'dGhlIHNhbXBsZSBub25jZQ==',
    ];
    const { response, upstreamRequest } = await send(
      { ...GET, target: '/socket', headers },
      { status: 403, headers: [], body: Buffer.from('no') },
    );
    expect([response?.status, response?.body.toString()]).toEqual([403, 'no']);
    expect(upstreamRequest?.headers.map((text) => text.toLowerCase())).toContain('websocket');
  });

  it('closes the connection when the upstream truncates its response', async () => {
    const { response, record } = await send(GET, {
      status: 200,
      headers: ['Content-Length', '10'],
      body: Buffer.from('abc'),
    });
    expect([response, record.refusal?.code]).toEqual([undefined, 'upstream_error']);
  });

  it('serves a plan with TLS', async () => {
    const { certificate, key } = createPair();
    const text = MANIFEST.replace('version: 1', 'version: 1\nserver: { tls: { certificate: ./a.pem, key: ./a.key } }');
    const secured = createOfflineGateway(planOf(text, { 'a.pem': certificate, 'a.key': key }), new StubVerifier());
    const { response, upstreamRequest } = await secured(GET);
    expect(response?.status).toBe(200);
    expect(upstreamRequest?.headers).toEqual(expect.arrayContaining(['X-Forwarded-Proto', 'https']));
  });
});

describe('MemorySocket', () => {
  it('applies backpressure while the peer does not read', async () => {
    const [near, far] = MemorySocket.pair();
    let count = 0;
    while (near.write(Buffer.alloc(10_000)) && count < 1_000) count += 1;
    expect(count).toBeLessThan(100);
    far.resume();
    await once(near, 'drain');
  });

  it('ends at the peer when one side ends', async () => {
    const [near, far] = MemorySocket.pair();
    far.resume();
    near.end('last');
    await once(far, 'end');
    expect(far.bytesRead).toBe(4);
  });

  it('emits ECONNRESET at the peer after a reset', async () => {
    const [near, far] = MemorySocket.pair();
    near.resetAndDestroy();
    const [error] = await once(far, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });

  it('discards bytes for a closed peer', async () => {
    const [near, far] = MemorySocket.pair();
    far.destroy();
    await new Promise<void>((resolve) => near.write('lost', () => resolve()));
  });
});
