/** Each of these once hung the process, ended it, or let through what it should not have. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/load.ts';
import { manifest, PUBLIC_ALL, startGateway, worldOf } from '../support/gateway.ts';
import { ask, exchangeBytes, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';
import { startWireUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: item, method: GET, path: '/items/{id}', upstream: up, access: public }
  - { id: rest, method: any, path: /items/**, upstream: up, access: protected }
  - { id: open, method: GET, path: /open, upstream: up, access: public, websocket: true }
  - { id: upload, method: POST, path: /upload, upstream: up, access: protected }
`;

let site: Site;
beforeAll(async () => {
  site = await startSite(ROUTES);
});
afterAll(() => site.close());

describe('a segment that folds to nothing', () => {
  it.each(['/items/%20...', '/items/%20.', '/items/%20%20.'])('%s is answered', async (path) => {
    const { status } = await site.get(path);
    expect([400, 404, 405]).toContain(status);
  });
});

describe('a HEAD that is refused before its body has come', () => {
  it('is answered at once, and not only when the rest is read', async () => {
    const { status } = await ask(site.port, keptHead('HEAD /open HTTP/1.1', 'Transfer-Encoding: gzip'));
    expect(status).toBe(400);
  });
});

describe('a client that leaves', () => {
  it('by a reset in the middle of a handshake or a tunnel does not end the process', async () => {
    const handshake = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: a',
    ];
    for (let round = 0; round < 3; round += 1) {
      const socket = await openSocket(site.port);
      socket.write(keptHead('GET /open HTTP/1.1', ...handshake));
      await once(socket, 'data');
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    expect((await site.get('/items/a')).status).toBe(200);
  });

  it('while its token is verified is not forwarded', async () => {
    const before = site.upstream.requests.length;
    for (let round = 0; round < 20; round += 1) {
      const token = await site.issuer.token({ jti: String(round) });
      const wire = await Wire.open(site.port);
      wire.write(`${keptHead('POST /upload HTTP/1.1', `Authorization: Bearer ${token}`, 'Content-Length: 10')}half`);
      wire.socket.resetAndDestroy();
      await once(wire.socket, 'close');
    }
    await eventually(
      'all are noticed',
      () => site.gateway.lines.filter(({ path }) => path === '/upload').length === 20,
    );
    expect(site.upstream.requests.length).toBe(before);
  });
});

describe('a schema that answers later', () => {
  it('is a problem of the manifest', () => {
    const text = `version: 1
upstreams: { up: { url: http://127.0.0.1:1 } }
routes:
  - { id: a, method: POST, path: /a, upstream: up, access: public, body: { schema: { $async: true, type: object } } }
`;
    const { plan, problems } = load({ path: 'gateway.yaml', text }, worldOf());
    expect(plan).toBeUndefined();
    expect(problems.map(({ message }) => message)).toEqual(['"$async" is not a keyword of JSON Schema; remove it']);
  });
});

describe('an answer whose end cannot be passed on', () => {
  async function answeredWith(bytes: string, routes: string, ...headers: string[]) {
    const upstream = await startWireUpstream(() => bytes);
    const gateway = await startGateway(manifest(routes, { up: upstream.url }));
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /x HTTP/1.1', ...headers));
    await wire.closed();
    wire.end();
    await eventually('it is in the log', () => gateway.lines.length === 1);
    const [line] = gateway.lines;
    await gateway.close();
    await upstream.close();
    return { rest: wire.rest, line };
  }

  it('for a trailer that speaks of the framing is cut off', async () => {
    const bytes =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n';
    const { rest, line } = await answeredWith(bytes, PUBLIC_ALL);
    expect(rest).not.toContain('0\r\n\r\n');
    expect(line).toMatchObject({ refusal: 'upstream_error', reason: 'upstream_response_malformed', aborted: true });
  });

  it('for a 101 that speaks of the framing is 502', async () => {
    const bytes = 'HTTP/1.1 101 Up\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: gzip\r\n\r\n';
    const { rest } = await answeredWith(
      bytes,
      PUBLIC_ALL.replace(' }', ', websocket: true }'),
      'Connection: Upgrade',
      'Upgrade: websocket',
    );
    expect(rest).toMatch(/^HTTP\/1\.1 502 [\s\S]*"code":"upstream_error"/);
  });
});

describe('what is refused before it is a request', () => {
  it('a missing Host, in the usual form', async () => {
    const answer = await exchangeBytes(site.port, 'GET /items/a HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"message_malformed"/);
  });

  it('CONNECT, with Allow; both leave a line in the log', async () => {
    const { status, value } = await ask(site.port, head('CONNECT example.test:443 HTTP/1.1'));
    expect([status, value('allow')]).toEqual([405, 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT']);
    expect(site.gateway.lines.at(-1)).toMatchObject({ status: 405, refusal: 'method_not_allowed' });
  });
});
