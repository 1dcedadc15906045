import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
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
let gateway: TestGateway;
let withCors: TestGateway;
let behindProxy: TestGateway;
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
  behindProxy = await startGateway(manifest(ROUTES, { up: upstream.url, server: '{ trustedProxies: [127.0.0.1] }' }));
});
afterAll(async () => {
  for (const running of [gateway, withCors, behindProxy]) await running.close();
  await upstream.close();
});

/** Sends a handshake; returns the status and the refusal code of the response. */
async function open({ port }: TestGateway, path: string, ...headers: string[]) {
  received = '';
  const wire = await Wire.open(port);
  const lines = [`GET ${path} HTTP/1.1`, 'Host: gateway.test:8443', 'Connection: Upgrade', 'Upgrade: websocket'];
  wire.write([...lines, 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${KEY}`, ...headers, '', ''].join('\r\n'));
  const response = await wire.message();
  const code = response.status === 101 ? undefined : response.json().code;
  wire.end();
  return [response.status, code];
}

const REFUSED = [403, 'origin_not_allowed'];
const OPENED = [101, undefined];

describe('the origin of a WebSocket handshake', () => {
  it.each([['https://gateway.test:8443'], ['http://gateway.test:8443'], ['HTTPS://GATEWAY.test:8443']])(
    'can be the same host without a list: %s',
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
    ['a value without a scheme', 'Origin: gateway.test:8443'],
    ['an empty value', 'Origin:'],
    ['another spelling of the header name', 'oRIGIN: https://evil.example'],
    ['two origins', 'Origin: https://gateway.test:8443\r\nOrigin: https://evil.example'],
  ])('is refused without a list: %s', async (_case, ...headers) => {
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
  ])('is checked against the list of the route: %s %s', async (path, origin, expected) => {
    expect(await open(gateway, path, `Origin: ${origin}`)).toEqual(expected);
    if (expected === REFUSED) expect(received).toBe('');
  });

  it.each([
    ['/open', 'https://shared.example', OPENED],
    ['/open', 'https://gateway.test:8443', OPENED],
    ['/open', 'https://evil.example', REFUSED],
    ['/listed', 'https://shared.example', REFUSED],
  ])('is checked against cors if the route has no list: %s %s', async (path, origin, expected) => {
    expect(await open(withCors, path, `Origin: ${origin}`)).toEqual(expected);
  });

  it('is compared with the forwarded host and scheme of a trusted proxy', async () => {
    const forwarded = ['X-Forwarded-Host: app.example', 'X-Forwarded-Proto: https'];
    expect(await open(behindProxy, '/open', 'Origin: https://app.example', ...forwarded)).toEqual(OPENED);
    expect(await open(behindProxy, '/open', 'Origin: http://app.example', ...forwarded)).toEqual(REFUSED);
    expect(await open(behindProxy, '/open', 'Origin: https://gateway.test:8443', ...forwarded)).toEqual(REFUSED);
    expect(await open(gateway, '/open', 'Origin: https://app.example', ...forwarded)).toEqual(REFUSED);
  });

  it('is optional, since programs do not send it', async () => {
    expect(await open(gateway, '/open')).toEqual(OPENED);
    expect(await open(gateway, '/listed')).toEqual(OPENED);
  });

  it('is refused before the token is verified, and the log omits its value', async () => {
    expect(await open(gateway, '/guarded', 'Origin: https://evil.example')).toEqual(REFUSED);
    await eventually('the access line', () => gateway.lines.at(-1)?.['refusal'] === 'origin_not_allowed');
    expect(JSON.stringify(gateway.lines)).not.toContain('evil.example');
    expect((await open(gateway, '/guarded', 'Origin: https://gateway.test:8443'))[0]).toBe(401);
  });

  it('that a reload removes from the list has its tunnels closed', async () => {
    const manifestOf = (list: string) =>
      manifest(
        `  - { id: a, method: GET, path: /a, upstream: up, access: public, websocket: { origins: [${list}] } }\n`,
        { up: upstream.url },
      ).replace('routes:', 'reload: { grace: 0s }\nroutes:');
    const running = await startGateway(manifestOf('"https://app.example", "https://old.example"'));
    const wires = await Promise.all(
      ['app', 'old'].map(async (name) => {
        const wire = await Wire.open(running.port);
        const lines = ['GET /a HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'];
        wire.write(
          [
            ...lines,
            `Sec-WebSocket-Key: ${KEY}`,
            'Sec-WebSocket-Version: 13',
            `Origin: https://${name}.example`,
            '',
            '',
          ].join('\r\n'),
        );
        expect((await wire.message()).status).toBe(101);
        return wire;
      }),
    );
    running.swap(manifestOf('"https://app.example"'));
    await wires[1]?.closed();
    expect(wires[0]?.isClosed).toBe(false);
    wires[0]?.end();
    await running.close();
  });
});
