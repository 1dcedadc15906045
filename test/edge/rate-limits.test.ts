import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../support/upstream.ts';

/** One party must not use rate limits to harm another, and never gets more requests through than its limit. */

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const WRONG = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';

let respond: () => WireResponse = () => OK;
let upstream: WireUpstream;
let gateway: TestGateway;
const wires: Wire[] = [];

beforeAll(async () => {
  upstream = await startWireUpstream(() => respond());
  const routes = `  - { id: api, method: GET, path: /api, upstream: up, access: public, rateLimits: [caller] }
  - { id: address, method: GET, path: /address, upstream: up, access: public, rateLimits: [address] }
  - id: login
    method: POST
    path: /login
    upstream: up
    access: public
    rateLimits: [account]
    body: { maxBytes: 1KB, schema: { type: object, required: [email], properties: { email: { type: string } } } }
rateLimits:
  caller: { key: { header: X-Caller }, missing: refuse, allow: 3 per 24h }
  address: { key: client, allow: 3 per 24h }
  account: { key: { body: /email }, missing: refuse, allow: 3 per 24h, count: failures }
`;
  const server = '{ trustedProxies: [127.0.0.1] }';
  gateway = await startGateway(manifest(routes, { up: upstream.url, server, timeouts: '{ response: 60s }' }));
});

afterEach(() => {
  respond = () => OK;
  for (const wire of wires.splice(0)) wire.end();
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const get = async (path: string, ...headers: string[]) =>
  (await sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`, ...headers))).status;

function loginBytes(email: string): string {
  const body = JSON.stringify({ email });
  return (
    keepAliveHead('POST /login HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body
  );
}

async function open(bytes: string): Promise<Wire> {
  const wire = await Wire.open(gateway.port);
  wires.push(wire);
  return wire.write(bytes);
}

const login = async (email: string) => (await (await open(loginBytes(email))).response('POST')).status;

describe('a client', () => {
  it('that invents callers in long headers neither frees nor blocks other callers', async () => {
    for (let index = 0; index < 4; index += 1) await get('/api', 'X-Caller: over');
    const arrays = process.memoryUsage().arrayBuffers;
    const batches = Array.from({ length: 20 }, async (_, batch) => {
      const wire = await open('');
      for (let index = 0; index < 200; index += 1) {
        wire.write(keepAliveHead('GET /api HTTP/1.1', `X-Caller: ${batch}-${index}-${'x'.repeat(2_000)}`));
        expect((await wire.response()).status).toBe(200);
      }
    });
    await Promise.all(batches);
    expect(await get('/api', 'X-Caller: over')).toBe(429);
    for (const status of [200, 200, 200, 429]) expect(await get('/api', 'X-Caller: other')).toBe(status);
    expect(process.memoryUsage().arrayBuffers - arrays).toBeLessThan(20_000_000);
  });

  it('that forges the address of another client blocks only itself', async () => {
    const forge = () => get('/address', 'X-Forwarded-For: 192.0.2.1, 192.0.2.66');
    for (const status of [200, 200, 200, 429, 429]) expect(await forge()).toBe(status);
    for (const status of [200, 200, 200, 429]) expect(await get('/address', 'X-Forwarded-For: 192.0.2.1')).toBe(status);
  });

  it('that trickles bodies holds no request of an account', async () => {
    respond = () => WRONG;
    for (let index = 0; index < 10; index += 1) await open(loginBytes('trickled').slice(0, -1));
    for (const status of [401, 401, 401, 429]) expect(await login('trickled')).toBe(status);
  });

  it('that leaves as soon as the upstream has the guess gets no more of them through', async () => {
    respond = () => () => undefined;
    for (let index = 0; index < 6; index += 1) {
      const [received, lines] = [upstream.messages.length, gateway.lines.length];
      const wire = await open(loginBytes('left'));
      await eventually('sent or refused', () => upstream.messages.length > received || wire.rest !== '');
      wire.end();
      await eventually('the exchange ends', () => gateway.lines.length > lines);
    }
    expect(await login('left')).toBe(429);
    respond = () => OK;
    expect(await login('another')).toBe(200);
  });
});

describe('an upstream', () => {
  it('that hangs holds only the accounts whose logins it holds', async () => {
    respond = () => () => undefined;
    const received = upstream.messages.length;
    for (let index = 0; index < 5; index += 1) await open(loginBytes('held'));
    await eventually('three logins wait', () => upstream.messages.length === received + 3);
    respond = () => OK;
    expect(await login('held')).toBe(429);
    for (let index = 0; index < 9; index += 1) expect(await login('free')).toBe(200);
  });

  it('that fails does not lock accounts with responses that say nothing about the password', async () => {
    respond = () => 'HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n';
    for (let index = 0; index < 9; index += 1) expect(await login('unlucky')).toBe(503);
    respond = () => WRONG;
    for (const status of [401, 401, 401, 429]) expect(await login('unlucky')).toBe(status);
  });
});
