import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const ROUTES = `  - id: contacts
    method: any
    path: /api/contacts/**
    upstream: up
    access: public
    websocket: true
    encodedSlash: keep
    upstreamPath: { replace: /api/contacts, with: /v2 }
  - { id: strip, method: any, path: /strip/**, upstream: up, access: public, upstreamPath: { replace: /strip, with: / } }
  - { id: open, method: GET, path: '/open/{topic}', upstream: up, access: public, websocket: true }
`;
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
];
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nthrough';

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(({ headers }) =>
    headers.some(([name]) => name.toLowerCase() === 'upgrade')
      ? SWITCH
      : 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  );
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('the path of an upstream request', () => {
  it.each([
    ['/api/contacts', '/v2'],
    ['/api/contacts?page=2', '/v2?page=2'],
    ['/api/contacts/?', '/v2/?'],
    ['/api/contacts/7/a%20b;c?x=/api/contacts/../%2e"', '/v2/7/a%20b;c?x=/api/contacts/../%2e"'],
    ['/api/contacts/a%2Fb/c', '/v2/a%2Fb/c'],
    ['http://gateway.test/api/contacts/7?x', '/v2/7?x'],
    ['/strip', '/'],
    ['/strip/', '/'],
    ['/strip?/x', '/?/x'],
    ['/strip/strip/x', '/strip/x'],
    ['/open/7?x', '/open/7?x'],
  ])('for %s is %s', async (sent, expected) => {
    const before = upstream.messages.length;
    expect((await sendRequest(gateway.port, head(`GET ${sent} HTTP/1.1`))).status).toBe(200);
    expect(upstream.messages.slice(before).map(({ line }) => line)).toEqual([`GET ${expected} HTTP/1.1`]);
  });

  it('is replaced in a WebSocket handshake too', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /api/contacts/a%2Fb HTTP/1.1', ...HANDSHAKE));
    expect((await wire.message()).status).toBe(101);
    await wire.until('through');
    expect(upstream.messages.at(-1)?.line).toBe('GET /v2/a%2Fb HTTP/1.1');
    wire.end();
  });

  it('is not in the access line, which has the path of the client', async () => {
    gateway.lines.length = 0;
    await sendRequest(gateway.port, head('GET /api/contacts/logged HTTP/1.1'));
    await eventually('the access line', () => gateway.lines.some(({ path }) => path === '/api/contacts/logged'));
  });
});

describe('an encoded slash that no route keeps', () => {
  it.each([[[]], [HANDSHAKE]])('is refused with a logged reason: %j', async (headers) => {
    gateway.lines.length = 0;
    const before = upstream.messages.length;
    const response = await sendRequest(gateway.port, keepAliveHead('GET /open/a%2Fb HTTP/1.1', ...headers));
    expect([response.status, response.json().code]).toEqual([400, 'path_ambiguous']);
    expect(upstream.messages.length).toBe(before);
    await eventually('the access line', () => gateway.lines.length > 0);
    expect(gateway.lines).toMatchObject([{ status: 400, reason: 'path_encoded_slash' }]);
  });
});
