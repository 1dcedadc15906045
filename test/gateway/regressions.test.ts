/** Regression tests: each case once hung the process, ended it or bypassed a check. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { manifest, PUBLIC_ALL, startGateway, worldOf } from '../support/gateway.ts';
import { exchangeBytes, head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
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

describe('a path segment of blanks and dots', () => {
  it.each(['/items/%20...', '/items/%20.', '/items/%20%20.'])('gets a response: %s', async (path) => {
    const { status } = await site.get(path);
    expect([400, 404, 405]).toContain(status);
  });
});

describe('a HEAD request that is refused before its body arrives', () => {
  it('gets its response at once', async () => {
    const { status } = await sendRequest(site.port, keepAliveHead('HEAD /open HTTP/1.1', 'Transfer-Encoding: gzip'));
    expect(status).toBe(400);
  });
});

describe('a client that disconnects', () => {
  const handshake = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];

  it('with a reset during a handshake or a tunnel does not end the process', async () => {
    for (let round = 0; round < 3; round += 1) {
      const socket = await openSocket(site.port);
      socket.write(keepAliveHead('GET /open HTTP/1.1', ...handshake));
      await once(socket, 'data');
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    expect((await site.get('/items/a')).status).toBe(200);
  });

  it('with a reset as the upstream accepts its handshake causes no upstream error', async () => {
    let client: Socket | undefined;
    const upstream = await startWireUpstream(() => {
      // The gateway reads both in one turn of its event loop.
      client?.resetAndDestroy();
      return 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    });
    const gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
    client = await openSocket(gateway.port);
    client.write(keepAliveHead('GET /open HTTP/1.1', ...handshake));
    await eventually('the request is logged', () => gateway.lines.length > 0);
    expect(gateway.lines[0]).toMatchObject({ aborted: true });
    expect(gateway.lines[0]).not.toHaveProperty('refusal');
    await gateway.close();
    await upstream.close();
  });

  it('while the gateway verifies its token has its request dropped', async () => {
    const before = site.upstream.requests.length;
    for (let round = 0; round < 20; round += 1) {
      const token = await site.issuer.token({ jti: String(round) });
      const wire = await Wire.open(site.port);
      wire.write(
        `${keepAliveHead('POST /upload HTTP/1.1', `Authorization: Bearer ${token}`, 'Content-Length: 10')}half`,
      );
      wire.socket.resetAndDestroy();
      await once(wire.socket, 'close');
    }
    await eventually(
      'every request is logged',
      () => site.gateway.lines.filter(({ path }) => path === '/upload').length === 20,
    );
    expect(site.upstream.requests.length).toBe(before);
  });
});

describe('an asynchronous schema', () => {
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

describe('a response that cannot be forwarded completely', () => {
  async function forwardResponse(bytes: string, routes: string, ...headers: string[]) {
    const upstream = await startWireUpstream(() => bytes);
    const gateway = await startGateway(manifest(routes, { up: upstream.url }));
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /x HTTP/1.1', ...headers));
    await wire.closed();
    wire.end();
    await eventually('the access line', () => gateway.lines.length === 1);
    const [line] = gateway.lines;
    await gateway.close();
    await upstream.close();
    return { rest: wire.rest, line };
  }

  it('is cut off if a trailer field declares framing', async () => {
    const bytes =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n';
    const { rest, line } = await forwardResponse(bytes, PUBLIC_ALL);
    expect(rest).not.toContain('0\r\n\r\n');
    expect(line).toMatchObject({ refusal: 'upstream_error', reason: 'upstream_response_malformed', aborted: true });
  });

  it('is replaced by 502 if a 101 declares framing', async () => {
    const bytes = 'HTTP/1.1 101 Up\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: gzip\r\n\r\n';
    const { rest } = await forwardResponse(
      bytes,
      PUBLIC_ALL.replace(' }', ', websocket: true }'),
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    );
    expect(rest).toMatch(/^HTTP\/1\.1 502 [\s\S]*"code":"upstream_error"/);
  });
});

describe('a refusal without a request', () => {
  it('has the usual form for a missing Host', async () => {
    const response = await exchangeBytes(site.port, 'GET /items/a HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"message_malformed"/);
  });

  it('has Allow for CONNECT, and an access line', async () => {
    const { status, value } = await sendRequest(site.port, head('CONNECT example.test:443 HTTP/1.1'));
    expect([status, value('allow')]).toEqual([405, 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT']);
    expect(site.gateway.lines.at(-1)).toMatchObject({ status: 405, refusal: 'method_not_allowed' });
  });
});
