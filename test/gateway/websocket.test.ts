import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: events, method: GET, path: '/events/{topic}', upstream: up, access: protected, websocket: true }
  - { id: open, method: GET, path: /open, upstream: up, access: public, websocket: true }
  - { id: plain, method: any, path: /plain/**, upstream: up, access: public }
`;
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
];

let upstream: RawUpstream;
let issuer: Issuer;
let gateway: TestGateway;
let token: string;
/** The chunks that the upstream received. */
let received: string[] = [];
let respond: (socket: Socket, text: string) => void;
/** The upstream's socket that received data last. */
let last: Socket;

/** Accepts the handshake, then echoes. */
function echo(socket: Socket, text: string): void {
  const key = /Sec-WebSocket-Key: (\S+)/i.exec(text)?.[1];
  if (key === undefined) {
    socket.write(text, 'latin1');
    return;
  }
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, 'X-Case: kept', '', ''].join('\r\n'));
}

beforeAll(async () => {
  upstream = await startRawUpstream((socket) => {
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      received.push(text);
      last = socket;
      respond(socket, text);
    });
  });
  issuer = await startIssuer();
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
  token = await issuer.token();
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});
beforeEach(() => {
  received = [];
  respond = echo;
});

async function handshake(path: string, ...headers: string[]): Promise<Wire> {
  const wire = await Wire.open(gateway.port);
  return wire.write(keepAliveHead(`GET ${path} HTTP/1.1`, ...HANDSHAKE, ...headers));
}

describe('a WebSocket handshake', () => {
  it('becomes a tunnel on a WebSocket route', async () => {
    const wire = await handshake('/events/a?x=%20"', `Authorization: Bearer ${token}`);
    const response = await wire.message();
    expect([response.status, response.value('sec-websocket-accept')]).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
    expect(response.values('X-Case')).toEqual(['kept']);
    wire.write(Buffer.from('\x81\x85binary\xff', 'latin1'));
    await wire.until('\xff');
    expect(received[0]).toMatch(/^GET \/events\/a\?x=%20" HTTP\/1\.1\r\n/);
    expect(received[0]).toContain(`Sec-WebSocket-Key: ${KEY}\r\n`);
    wire.end();
    await eventually('the access line', () => gateway.lines.at(-1)?.['status'] === 101);
  });

  it.each([
    ['/events/a', [], 401],
    ['/events/a', ['Authorization: Bearer x.y.z'], 401],
    ['/events/../open', [], 400],
    ['/open', ['Content-Length: 3'], 400],
  ])('is refused like any request: %s %j', async (path, headers, status) => {
    const wire = await handshake(path, ...headers);
    expect((await wire.response()).status).toBe(status);
    await wire.closed();
    expect(received).toEqual([]);
  });

  it('becomes a tunnel in absolute form', async () => {
    const wire = await handshake('http://gateway.test/open');
    expect((await wire.message()).status).toBe(101);
    expect(received[0]).toMatch(/^GET \/open HTTP\/1\.1\r\n/);
    wire.end();
  });

  it('shows that the endpoint is healthy', async () => {
    const other = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
    const wire = await Wire.open(other.port);
    wire.write(keepAliveHead('GET /open HTTP/1.1', ...HANDSHAKE));
    expect((await wire.message()).status).toBe(101);
    expect(other.gateway.upstreams).toMatchObject([{ health: 'healthy' }]);
    wire.end();
    await other.close();
  });

  it.each([
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec_WebSocket_Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Version: 8',
    'Sec.WebSocket.Version: 13',
  ])('is refused with a second header: %s', async (second) => {
    const wire = await handshake('/open', second);
    expect((await wire.response()).status).toBe(400);
    await wire.closed();
    expect(received).toEqual([]);
  });

  it.each([
    [],
    ['Sec-WebSocket-Key:'],
    ['Sec-WebSocket-Key: a'],
    ['Sec-WebSocket-Key: YQ=='],
    ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ'],
    ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ=='],
    ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQAA'],
    ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j_-=='],
    ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSEhIQ=='],
    ['Sec_WebSocket_Key: dGhlIHNhbXBsZSBub25jZQ=='],
  ])('is refused without a key of 16 bytes: %j', async (...keys) => {
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /open HTTP/1.1', ...HANDSHAKE.slice(0, 3), ...keys));
    const response = await wire.response();
    expect([response.status, response.json().code]).toEqual([400, 'message_malformed']);
    await wire.closed();
    expect(received).toEqual([]);
  });

  it.each([
    [],
    ['Sec-WebSocket-Version: 8'],
    ['Sec-WebSocket-Version: 013'],
    ['Sec-WebSocket-Version: 13, 8'],
    ['Sec_WebSocket_Version: 13'],
  ])('is refused with another version than 13: %j', async (...versions) => {
    const wire = await Wire.open(gateway.port);
    const others = HANDSHAKE.filter((line) => !line.includes('Version'));
    wire.write(keepAliveHead('GET /open HTTP/1.1', ...others, ...versions));
    const response = await wire.response();
    expect([response.status, response.json().code]).toEqual([426, 'websocket_version_unsupported']);
    const names = ['sec-websocket-version', 'upgrade', 'connection'];
    expect(names.map((name) => response.value(name))).toEqual(['13', 'websocket', 'close, Upgrade']);
    await wire.closed();
    expect(received).toEqual([]);
  });

  it('is refused if the role is not allowed', async () => {
    const other = await issuer.token({ company_role: 'auditor' });
    const wire = await handshake('/events/a', `Authorization: Bearer ${other}`);
    expect((await wire.response()).status).toBe(403);
    expect(received).toEqual([]);
  });

  it('gets another response of the upstream completely, and the connection closes afterwards', async () => {
    respond = (socket) =>
      socket.write(`HTTP/1.1 426 Other\r\nX-Why: not here\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`);
    const wire = await handshake('/open');
    const response = await wire.response();
    expect([response.status, response.value('x-why'), response.body.length]).toEqual([426, 'not here', 300_000]);
    await wire.closed();
  });

  it('gets 502 if the upstream switches to another protocol', async () => {
    respond = (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n');
    expect((await (await handshake('/open')).response()).status).toBe(502);
  });

  it('gets 502 if the upstream closes the connection', async () => {
    respond = (socket) => socket.destroy();
    expect((await (await handshake('/open')).response()).status).toBe(502);
  });
});

describe('a client that disconnects before the response', () => {
  it.each([
    ['with a reset', (wire: Wire) => wire.socket.resetAndDestroy()],
    ['with an end', (wire: Wire) => wire.socket.end()],
  ])('%s has its upstream connection closed', async (_case, disconnect) => {
    respond = () => undefined;
    const wire = await handshake('/open');
    await eventually('the handshake arrives', () => received.length === 1);
    const closed = once(last, 'close');
    disconnect(wire);
    await closed;
    await eventually('the access line', () => gateway.lines.at(-1)?.['aborted'] === true);
  });
});

describe('bytes that arrive before the 101', () => {
  it('wait for the tunnel', async () => {
    let accept = () => undefined as unknown;
    respond = (socket, text) => {
      accept = () => echo(socket, text);
      respond = echo;
    };
    const wire = await handshake('/open');
    wire.write('early');
    await eventually('the handshake arrives', () => received.length === 1);
    expect(received[0]).not.toContain('early');
    accept();
    await wire.until('early');
    wire.end();
  });

  it('never become a request if there is no tunnel', async () => {
    respond = (socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n');
    const wire = await handshake('/open');
    wire.write(keepAliveHead('GET /plain/smuggled HTTP/1.1'));
    expect((await wire.response()).status).toBe(403);
    await wire.closed();
    expect(received.join('')).not.toContain('smuggled');
  });
});

describe('a handshake whose Connection names what the gateway has checked', () => {
  it('keeps its key, its version and its origin', async () => {
    respond = (socket) => socket.write('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n');
    const names = ['Sec-WebSocket-Key', 'Sec-WebSocket-Version', 'Origin'];
    const wire = await Wire.open(gateway.port);
    const rest = HANDSHAKE.filter((line) => !line.startsWith('Connection:'));
    wire.write(
      keepAliveHead(
        'GET /open HTTP/1.1',
        `Connection: Upgrade, ${names.join(', ')}`,
        'Origin: http://gateway.test',
        ...rest,
      ),
    );
    expect((await wire.response()).status).toBe(426);
    for (const name of names) expect(received[0]).toContain(`${name}: `);
    wire.end();
  });
});

describe('an upgrade that is not a WebSocket handshake of the route', () => {
  it.each([
    ['/plain/x', 'websocket'],
    ['/open', 'h2c'],
  ])('is forwarded as a plain request without its upgrade headers: %s %s', async (path, protocol) => {
    respond = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const wire = await Wire.open(gateway.port);
    wire.write(
      keepAliveHead(
        `GET ${path} HTTP/1.1`,
        'Connection: Upgrade, HTTP2-Settings',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABk',
      ),
    );
    expect((await wire.response()).status).toBe(200);
    expect(received[0]).not.toMatch(/upgrade|http2-settings/i);
    wire.end();
  });

  it('is forwarded as a plain request if it is HTTP/1.0', async () => {
    respond = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    for (const target of ['/open', 'http://gateway.test/open']) {
      const wire = await Wire.open(gateway.port);
      wire.write(keepAliveHead(`GET ${target} HTTP/1.0`, ...HANDSHAKE));
      expect((await wire.response()).status).toBe(200);
      await wire.closed();
    }
    expect(received).toHaveLength(2);
    expect(received.join()).not.toMatch(/upgrade/i);
  });

  it('gets the plain response of the upstream behind another request', async () => {
    respond = (socket, text) => {
      if (text.includes('/plain/slow'))
        setImmediate(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow'));
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain');
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /plain/slow HTTP/1.1') + keepAliveHead('GET /open HTTP/1.1', ...HANDSHAKE));
    expect((await wire.response()).body.toString()).toBe('slow');
    expect((await wire.response()).body.toString()).toBe('plain');
    wire.end();
  });
});

describe('a tunnel', () => {
  it('closes on both sides when either side disconnects', async () => {
    const wire = await handshake('/open');
    await wire.message();
    const closed = once(last, 'close');
    wire.end();
    await closed;
    const other = await handshake('/open');
    await other.message();
    last.destroy();
    await other.closed();
  });

  it('ends soon after its client disconnects, even if the upstream does not close', async () => {
    const sockets: Socket[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).on('data', (chunk) => echo(socket, chunk.toString('latin1')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const site = await startGateway(manifest(ROUTES, { up: `http://127.0.0.1:${port}`, jwks: issuer.jwksUrl }));
    const wire = await Wire.open(site.port);
    wire.write(keepAliveHead('GET /open HTTP/1.1', ...HANDSHAKE));
    await wire.until('\r\n\r\n');
    wire.end();
    await eventually('the connection is released', () => site.gateway.upstreams[0]?.endpoints[0]?.busy === 0);
    for (const socket of sockets) socket.destroy();
    server.close();
    await site.close();
  });

  it('ends by a reset of either side, and later handshakes succeed', async () => {
    for (const reset of [(wire: Wire) => wire.socket.resetAndDestroy(), () => last.resetAndDestroy()]) {
      const wire = await handshake('/open');
      await wire.message();
      const ends = [once(wire.socket, 'close'), once(last, 'close')];
      reset(wire);
      await Promise.all(ends);
    }
    expect((await (await handshake('/open')).message()).status).toBe(101);
  });

  it('does not delay the close of the gateway', async () => {
    const running = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
    const wire = await Wire.open(running.port);
    wire.write(keepAliveHead('GET /open HTTP/1.1', ...HANDSHAKE));
    await wire.message();
    await running.close();
    await wire.closed();
  });

  it('gets a close frame (RFC 6455) after the current frame when the gateway closes', async () => {
    const running = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
    respond = (socket, text) => {
      if (text.startsWith('GET')) echo(socket, text);
    };
    const client = new WebSocket(`ws://127.0.0.1:${running.port}/open`);
    const messages: unknown[] = [];
    client.onmessage = ({ data }) => void messages.push(data);
    await new Promise((resolve, reject) => {
      client.onopen = resolve;
      client.onerror = reject;
    });
    const closed = new Promise<CloseEvent>((resolve) => {
      client.onclose = resolve;
    });
    received = [];
    last.write(Buffer.from([0x81, 1, 0x61, 0x81, 5, 0x68, 0x65]));
    await eventually('the first frame', () => messages.length === 1);
    const sentTo = last;
    const closing = running.gateway.close(10_000);
    sentTo.write(Buffer.from([0x6c, 0x6c, 0x6f, 0x81, 1, 0x78]));
    const { code, wasClean } = await closed;
    expect([code, wasClean, messages]).toEqual([1001, true, ['a', 'hello']]);
    await closing;
    // The close frame of the client.
    expect(Buffer.from(received.join(''), 'latin1').subarray(0, 1)).toEqual(Buffer.from([0x88]));
    expect(running.lines.at(-1)).toMatchObject({ status: 101, bytesOut: 13 });
  });
});
