import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/load.ts';
import { MemorySocket } from '../../src/offline/memory-socket.ts';
import { createOfflineGateway } from '../../src/offline/offline-gateway.ts';
import { StubVerifier } from '../../src/offline/stub-verifier.ts';
import type { Plan } from '../../src/plan/plan.ts';
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

describe('the gateway without a network', () => {
  const tokens = new StubVerifier();
  const ask = createOfflineGateway(planOf(), tokens);

  it('forwards what the gateway forwards, to the first target, however short the time limits are', async () => {
    const { response, upstreamRequest, record } = await ask({ ...GET, target: '/open?a=b' });
    expect([response?.status, record.route?.id]).toEqual([200, 'open']);
    expect([upstreamRequest?.origin, upstreamRequest?.method, upstreamRequest?.url]).toEqual([
      'http://10.0.0.1:7001',
      'GET',
      '/open?a=b',
    ]);
    expect((await ask(GET)).upstreamRequest?.origin).toBe('http://10.0.0.1:7001');
  });

  it('gives the answer of the upstream to the client', async () => {
    const upstream = { status: 203, headers: ['X-A', 'b', 'X-A', 'c'], body: Buffer.from('hello') };
    const { response } = await ask(GET, upstream);
    expect([response?.status, response?.body.toString()]).toEqual([203, 'hello']);
    expect(response?.headers).toEqual(expect.arrayContaining(['X-A', 'b', 'c']));
  });

  it('carries large bodies both ways', async () => {
    const body = Buffer.alloc(5_000_000, 'a');
    const { response, upstreamRequest } = await ask({ ...POST, body }, { status: 200, headers: [], body });
    expect([upstreamRequest?.body.equals(body), response?.body.equals(body)]).toEqual([true, true]);
  });

  it.each([
    [65_536, 200],
    [65_537, 413],
  ])('refuses a body of %i bytes as it should, by either framing', async (size, status) => {
    const request = { ...POST, target: '/small', body: Buffer.alloc(size) };
    expect((await ask(request)).response?.status).toBe(status);
    expect((await ask({ ...request, headers: ['Transfer-Encoding', 'chunked'] })).response?.status).toBe(status);
  });

  it('fills a body up that is said to be longer, and leaves where it would be endless', async () => {
    const padded = await ask({ ...POST, headers: ['Content-Length', '10'], body: Buffer.from('abc') });
    expect(padded.upstreamRequest?.body.toString()).toBe('abc       ');
    const endless = await ask({ ...POST, headers: ['Content-Length', '1000000000000'], body: undefined });
    expect([endless.response, endless.record.refusal?.code]).toEqual([undefined, undefined]);
    const refused = await ask({ ...POST, target: '/small', headers: ['Content-Length', '1000000000000'] });
    expect(refused.record.refusal?.code).toBe('body_too_large');
  });

  it('refuses what is no request', async () => {
    expect((await ask({ ...GET, target: '/a b' })).record.refusal?.code).toBe('message_malformed');
    expect((await ask({ ...GET, method: 'CONNECT', target: 'a:1' })).record.refusal?.code).toBe('method_not_allowed');
    expect((await ask({ ...GET, headers: ['X', 'y'.repeat(20_000)] })).record.refusal?.code).toBe('headers_too_large');
  });

  it('knows tokens that were stated, and no others', async () => {
    tokens.setToken('good', { claims: { role: 'user', sub: 'someone' } });
    tokens.setToken('other', { claims: { role: 'guest' } });
    tokens.setToken('old', { code: 'token_expired' });
    const asked = (token: string) => ask({ ...GET, target: '/closed', headers: ['Authorization', `Bearer ${token}`] });
    expect((await asked('good')).principals.map(({ claims }) => claims['role'])).toEqual(['user']);
    expect((await asked('other')).record.refusal?.code).toBe('role_not_allowed');
    expect((await asked('old')).record.refusal?.reason).toBe('token_expired');
    expect((await asked('unknown')).record.refusal?.reason).toBe('signature_wrong');
  });

  it('answers a WebSocket handshake as the upstream does', async () => {
    const headers = [
      'Connection',
      'Upgrade',
      'Upgrade',
      'websocket',
      'Sec-WebSocket-Version',
      '13',
      'Sec-WebSocket-Key',
      'a',
    ];
    const { response, upstreamRequest } = await ask(
      { ...GET, target: '/socket', headers },
      { status: 403, headers: [], body: Buffer.from('no') },
    );
    expect([response?.status, response?.body.toString()]).toEqual([403, 'no']);
    expect(upstreamRequest?.headers.map((text) => text.toLowerCase())).toContain('websocket');
  });

  it('cuts the connection where the gateway does', async () => {
    const { response, record } = await ask(GET, {
      status: 200,
      headers: ['Content-Length', '10'],
      body: Buffer.from('abc'),
    });
    expect([response, record.refusal?.code]).toEqual([undefined, 'upstream_error']);
  });

  it('is one behind TLS too', async () => {
    const { certificate, key } = createPair();
    const text = MANIFEST.replace('version: 1', 'version: 1\nserver: { tls: { certificate: ./a.pem, key: ./a.key } }');
    const secured = createOfflineGateway(planOf(text, { 'a.pem': certificate, 'a.key': key }), new StubVerifier());
    const { response, upstreamRequest } = await secured(GET);
    expect(response?.status).toBe(200);
    expect(upstreamRequest?.headers).toEqual(expect.arrayContaining(['X-Forwarded-Proto', 'https']));
  });
});

describe('a connection in memory', () => {
  it('holds a writer back that nobody reads', async () => {
    const [near, far] = MemorySocket.pair();
    let count = 0;
    while (near.write(Buffer.alloc(10_000)) && count < 1_000) count += 1;
    expect(count).toBeLessThan(100);
    far.resume();
    await once(near, 'drain');
  });

  it('ends by one side for the other', async () => {
    const [near, far] = MemorySocket.pair();
    far.resume();
    near.end('last');
    await once(far, 'end');
    expect(far.bytesRead).toBe(4);
  });

  it('is reset for the other side', async () => {
    const [near, far] = MemorySocket.pair();
    near.resetAndDestroy();
    const [error] = await once(far, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });

  it('loses what is written to a side that is gone', async () => {
    const [near, far] = MemorySocket.pair();
    far.destroy();
    await new Promise<void>((resolve) => near.write('lost', () => resolve()));
  });
});
