import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, type Running, startGateway } from '../support/gateway.ts';
import { Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: open, method: GET, path: /open, upstream: up, access: public, websocket: true }
  - { id: listed, method: GET, path: /listed, upstream: up, access: public, websocket: { origins: ['https://app.example', 'null'] } }
  - { id: any, method: GET, path: /any, upstream: up, access: public, websocket: { origins: ['*'] } }
  - { id: guarded, method: GET, path: /guarded, upstream: up, access: protected, websocket: true }
`;
const CORS = `cors: { origins: ['https://shared.example'] }\n`;
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

let upstream: RawUpstream;
let gateway: Running;
let withCors: Running;
let behind: Running;
let received = '';

beforeAll(async () => {
  upstream = await startRawUpstream((socket) => {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const accept = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
      socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
    });
  });
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
  withCors = await startGateway(manifest(ROUTES, { up: upstream.url }) + CORS);
  behind = await startGateway(manifest(ROUTES, { up: upstream.url, server: '{ trustedProxies: [127.0.0.1] }' }));
});
afterAll(async () => {
  for (const running of [gateway, withCors, behind]) await running.close();
  await upstream.close();
});

/** The response to a handshake: its status, and the code of a refusal. */
async function open({ port }: Running, path: string, ...headers: string[]) {
  received = '';
  const wire = await Wire.open(port);
  const lines = [`GET ${path} HTTP/1.1`, 'Host: gateway.test:8443', 'Connection: Upgrade', 'Upgrade: websocket'];
  wire.write([...lines, 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${KEY}`, ...headers, '', ''].join('\r\n'));
  const answer = await wire.message();
  const code = answer.status === 101 ? undefined : answer.json().code;
  wire.end();
  return [answer.status, code];
}

const REFUSED = [403, 'origin_not_allowed'];
const OPENED = [101, undefined];

describe('the origin of a WebSocket handshake', () => {
  it.each([['https://gateway.test:8443'], ['http://gateway.test:8443'], ['HTTPS://GATEWAY.test:8443']])(
    'without a list may be the same host: %s',
    async (origin) => {
      expect(await open(gateway, '/open', `Origin: ${origin}`)).toEqual(OPENED);
    },
  );

  it.each([
    ['another site', 'Origin: https://evil.example'],
    ['another port', 'Origin: https://gateway.test'],
    ['a sandboxed frame', 'Origin: null'],
    ['a longer name', 'Origin: https://gateway.test:8443.evil.example'],
    ['a name in front', 'Origin: https://evil-gateway.test:8443'],
    ['credentials in front', 'Origin: https://gateway.test:8443@evil.example'],
    ['credentials', 'Origin: https://evil.example@gateway.test:8443'],
    ['a backslash', 'Origin: https://gateway.test:8443\\@evil.example'],
    ['a path', 'Origin: https://gateway.test:8443/evil'],
    ['an escape', 'Origin: https://gateway%2etest:8443'],
    ['a scheme without slashes', 'Origin: https:gateway.test:8443'],
    ['a page of another site without Origin', 'Sec-Fetch-Site: cross-site'],
    ['a page of another host without Origin', 'sec-fetch-site: same-site'],
    ['another scheme', 'Origin: ftp://gateway.test:8443'],
    ['an extension', 'Origin: chrome-extension://gateway.test:8443'],
    ['no origin', 'Origin: gateway.test:8443'],
    ['an empty one', 'Origin:'],
    ['another spelling of the name', 'oRIGIN: https://evil.example'],
    ['two of them', 'Origin: https://gateway.test:8443\r\nOrigin: https://evil.example'],
  ])('is refused without a list: %s', async (_what, ...headers) => {
    expect(await open(gateway, '/open', ...headers)).toEqual(REFUSED);
    expect(received).toBe('');
  });

  it.each([
    ['/listed', 'https://app.example', OPENED],
    ['/listed', 'null', OPENED],
    ['/listed', 'https://app.example:8443', REFUSED],
    ['/listed', 'http://app.example', REFUSED],
    ['/listed', 'https://gateway.test:8443', REFUSED],
    ['/any', 'https://evil.example', OPENED],
    ['/any', 'null', OPENED],
  ])('is held to the list of the route: %s %s', async (path, origin, expected) => {
    expect(await open(gateway, path, `Origin: ${origin}`)).toEqual(expected);
    if (expected === REFUSED) expect(received).toBe('');
  });

  it.each([
    ['/open', 'https://shared.example', OPENED],
    ['/open', 'https://gateway.test:8443', OPENED],
    ['/open', 'https://evil.example', REFUSED],
    ['/listed', 'https://shared.example', REFUSED],
  ])('is held to cors where the route has no list: %s %s', async (path, origin, expected) => {
    expect(await open(withCors, path, `Origin: ${origin}`)).toEqual(expected);
  });

  it('is compared with what a trusted proxy says of the host, which a plain page of it is not over TLS', async () => {
    const said = ['X-Forwarded-Host: app.example', 'X-Forwarded-Proto: https'];
    expect(await open(behind, '/open', 'Origin: https://app.example', ...said)).toEqual(OPENED);
    expect(await open(behind, '/open', 'Origin: http://app.example', ...said)).toEqual(REFUSED);
    expect(await open(behind, '/open', 'Origin: https://gateway.test:8443', ...said)).toEqual(REFUSED);
    expect(await open(gateway, '/open', 'Origin: https://app.example', ...said)).toEqual(REFUSED);
  });

  it('that programs do not send is not asked for', async () => {
    expect(await open(gateway, '/open')).toEqual(OPENED);
    expect(await open(gateway, '/listed')).toEqual(OPENED);
  });

  it('is refused before a token is looked at, and told in the log without its text', async () => {
    expect(await open(gateway, '/guarded', 'Origin: https://evil.example')).toEqual(REFUSED);
    await eventually('the line is written', () => gateway.lines.at(-1)?.['refusal'] === 'origin_not_allowed');
    expect(JSON.stringify(gateway.lines)).not.toContain('evil.example');
    expect((await open(gateway, '/guarded', 'Origin: https://gateway.test:8443'))[0]).toBe(401);
  });

  it('that a reload takes away ends its tunnels', async () => {
    const only = (list: string) =>
      manifest(
        `  - { id: a, method: GET, path: /a, upstream: up, access: public, websocket: { origins: [${list}] } }\n`,
        { up: upstream.url },
      ).replace('routes:', 'reload: { grace: 0s }\nroutes:');
    const running = await startGateway(only('"https://app.example", "https://old.example"'));
    const wires = await Promise.all(
      ['app', 'old'].map(async (name) => {
        const wire = await Wire.open(running.port);
        const lines = ['GET /a HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'];
        wire.write([...lines, `Sec-WebSocket-Key: ${KEY}`, `Origin: https://${name}.example`, '', ''].join('\r\n'));
        expect((await wire.message()).status).toBe(101);
        return wire;
      }),
    );
    running.swap(only('"https://app.example"'));
    await wires[1]?.closed();
    expect(wires[0]?.isClosed).toBe(false);
    wires[0]?.end();
    await running.close();
  });
});
