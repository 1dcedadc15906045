import { once } from 'node:events';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createPair, type Pair } from '../support/certificate.ts';
import { manifest, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { valuesOf } from '../support/message.ts';
import { pause } from '../support/pause.ts';
import { endOf, exchangeBytes, head, keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../support/upstream.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const pair = createPair();
let upstream: WireUpstream;
let response: WireResponse = OK;
let gateway: TestGateway;

const TLS = 'tls: { certificate: ./tls.crt, key: ./tls.key }';
const filesOf = ({ certificate, key }: Pair) => ({ './tls.crt': certificate, './tls.key': key });
const textOf = (server: string) => manifest(ROUTES, { up: upstream.url, server });

beforeAll(async () => {
  upstream = await startWireUpstream(() => response);
  gateway = await startGateway(textOf(`{ ${TLS}, timeouts: { stalled: 400ms } }`), {}, filesOf(pair));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

afterEach(async () => {
  response = OK;
  // The gateway still serves a valid request after each test.
  const wire = await open();
  wire.write(head('GET /next HTTP/1.1'));
  expect((await wire.response()).status).toBe(200);
  wire.end();
  await eventually('the access line', () => linesOf('/next').length === 1);
  gateway.lines.length = 0;
  gateway.told.length = 0;
  upstream.messages.length = 0;
});

const linesOf = (expected: string) => gateway.lines.filter(({ path }) => path === expected);

async function secure(options: ConnectionOptions = {}, { port } = gateway): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: pair.certificate, ...options });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  return socket;
}

const open = async (options: ConnectionOptions = {}) => new Wire(await secure(options));

describe('a TLS handshake', () => {
  it('is not repeated on an open connection', async () => {
    const socket = await secure({ maxVersion: 'TLSv1.2' });
    const result = await new Promise((resolve) => {
      socket.once('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect(result).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
    socket.destroy();
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'with %s serves HTTP/1.1 and reports https to the upstream',
    async (version) => {
      const socket = await secure({ minVersion: version, maxVersion: version, ALPNProtocols: ['h2', 'http/1.1'] });
      expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'http/1.1']);
      const wire = new Wire(socket);
      wire.write(keepAliveHead('GET /x HTTP/1.1', 'X-Forwarded-Proto: http'));
      expect((await wire.response()).status).toBe(200);
      expect(valuesOf(upstream.messages[0]?.headers ?? [], 'x-forwarded-proto')).toEqual(['https']);
      await eventually('the access line', () => linesOf('/x').length === 1);
      expect(linesOf('/x')[0]).toMatchObject({ status: 200, peer: '127.0.0.1' });
      wire.end();
    },
  );

  it.each([
    ['an older version', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['only another protocol', { ALPNProtocols: ['h2'] }],
  ] as const)('with %s fails', async (_case, options) => {
    await expect(secure(options as ConnectionOptions)).rejects.toThrow(/protocol/i);
  });

  it('that receives plaintext fails without a request', async () => {
    expect(await exchangeBytes(gateway.port, head('GET /plain HTTP/1.1'))).not.toContain('HTTP/1.1');
    expect(await exchangeBytes(gateway.port, 'garbage\r\n\r\n')).not.toContain('HTTP/1.1');
    expect(gateway.told).toMatchObject([
      { level: 30, msg: 'TLS handshake failed', reason: 'ERR_SSL_HTTP_REQUEST', peer: '127.0.0.1' },
      { level: 30, msg: 'TLS handshake failed', reason: 'ERR_SSL_WRONG_VERSION_NUMBER', peer: '127.0.0.1' },
    ]);
    expect(upstream.messages).toEqual([]);
    expect(gateway.lines).toEqual([]);
  });

  it('that a port scan aborts is not logged', async () => {
    const scanner = await openSocket(gateway.port);
    scanner.end();
    await once(scanner, 'close');
    expect(gateway.told.filter(({ msg }) => msg === 'TLS handshake failed')).toEqual([]);
  });

  it('that never ends does not delay the close of the gateway', async () => {
    const running = await startGateway(textOf(`{ ${TLS} }`), {}, filesOf(pair));
    const socket = await openSocket(running.port);
    await eventually('the connection is open', () => socket.readyState === 'open');
    const closed = once(socket, 'close');
    const started = performance.now();
    await running.close();
    socket.resume();
    await closed;
    // The timeout of a handshake is 10 s.
    expect(performance.now() - started).toBeLessThan(9_500);
  });
});

describe('a refused request over TLS', () => {
  it.each([
    ['an ambiguous path', head('GET /a/../b HTTP/1.1'), 400],
    ['bytes that are not a request', 'garbage\r\n\r\n', 400],
    ['a head that is too large', head('GET /x HTTP/1.1', `X: ${'x'.repeat(20_000)}`), 431],
    ['CONNECT', head('CONNECT example.test:443 HTTP/1.1'), 405],
    ['two lengths', head('POST /x HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'), 400],
  ])('gets its refusal: %s', async (_case, bytes, status) => {
    const wire = await open();
    wire.write(bytes);
    expect((await wire.response()).status).toBe(status);
    await wire.closed();
    expect(upstream.messages).toEqual([]);
  });
});

describe('a response over TLS', () => {
  it('ends by a reset if the upstream aborts it', async () => {
    response = (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\nbegun', () => socket.resetAndDestroy());
    const socket = await secure();
    const end = endOf(socket);
    // In HTTP/1.0 only the end of the connection ends the response.
    socket.resume().write('GET /x HTTP/1.0\r\nHost: gateway.test\r\n\r\n');
    expect(await end).toBe('ECONNRESET');
  });

  it('is cut off for a stalled client and completes for a slow client', async () => {
    const size = 32 * MB;
    response = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size));
    };
    const stalled = await secure();
    stalled.write(keepAliveHead('GET /stalled HTTP/1.1'));
    await once(stalled, 'readable');
    await eventually('the access line of the stalled client', () => linesOf('/stalled').length === 1);
    expect(linesOf('/stalled')[0]).toMatchObject({ aborted: true, stalled: true });

    const slow = await secure();
    slow.write(head('GET /slow HTTP/1.1'));
    let received = 0;
    for await (const chunk of slow) {
      received += chunk.length;
      if (received % MB < 20_000) await pause(20);
    }
    expect(received).toBeGreaterThan(size);
  });
});

describe('a request body over TLS', () => {
  it('is cut off when it stalls', async () => {
    const socket = await secure();
    const end = endOf(socket);
    socket.write(keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 10'));
    socket.resume();
    expect(await end).toBe('ECONNRESET');
  });
});

describe('a WebSocket over TLS', () => {
  it('becomes a tunnel, including early bytes', async () => {
    response = (socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.removeAllListeners('data').on('data', (chunk) => socket.write(`echo ${chunk}`));
    };
    const wire = await open();
    wire.write(
      `${keepAliveHead('GET /socket HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13')}early`,
    );
    expect((await wire.message()).status).toBe(101);
    await wire.until('echo early');
    wire.write('later');
    await wire.until('echo later');
    wire.end();
    await eventually('the access line', () => linesOf('/socket').length === 1);
    expect(linesOf('/socket')[0]).toMatchObject({ status: 101 });
  });
});

describe('a new plan', () => {
  const loadWith = (files: Record<string, string>, server = `{ ${TLS} }`) => {
    const { plan } = load({ path: 'gateway.yaml', text: textOf(server) }, worldOf({}, files));
    if (plan === undefined) throw new Error('the manifest does not load');
    return plan;
  };
  const serialNumberOf = (socket: TLSSocket) => socket.getPeerX509Certificate()?.serialNumber;

  it('uses its certificate for new connections and keeps existing ones open', async () => {
    const next = createPair({ name: 'next' });
    const running = await startGateway(textOf(`{ ${TLS} }`), {}, filesOf(pair));
    const first = await secure({}, running);
    const wire = new Wire(first);
    // The plan changes in the middle of a request.
    wire.write('GET /one HTTP/1.1\r\n');
    running.gateway.activate(loadWith(filesOf(next)));
    wire.write('Host: gateway.test\r\n\r\n');
    expect((await wire.response()).status).toBe(200);

    const second = await secure({ ca: next.certificate }, running);
    expect(serialNumberOf(second)).not.toBe(serialNumberOf(first));
    await expect(secure({}, running)).rejects.toThrow(/self-signed/);
    wire.write(keepAliveHead('GET /two HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    for (const socket of [first, second]) socket.destroy();
    await running.close();
  });

  it('without a certificate keeps the last one until a restart', async () => {
    const running = await startGateway(textOf(`{ ${TLS} }`), {}, filesOf(pair));
    running.gateway.activate(loadWith({}, '{}'));
    const wire = new Wire(await secure({}, running));
    wire.write(head('GET /x HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    await running.close();
  });
});
