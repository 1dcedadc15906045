import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { load } from '../../src/load.ts';
import { forkGateway } from '../support/forked.ts';
import { manifest, PUBLIC_ALL, type Running, startGateway, worldOf } from '../support/gateway.ts';
import { ask, endOf, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startListening, startUpstream, type Upstream } from '../support/upstream.ts';

const OPEN: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of OPEN.splice(0).reverse()) await close();
});

interface Limited extends Running {
  readonly upstream: Upstream;
  /** Puts other rules in force. */
  adopt(server: string): void;
}

/** A gateway whose manifest has these rules for the server. */
async function start(server: string): Promise<Limited> {
  const upstream = await startUpstream();
  const textOf = (rules: string) => manifest(PUBLIC_ALL, { up: upstream.url, server: rules });
  const gateway = await startGateway(textOf(server));
  OPEN.push(upstream.close, gateway.close);
  const adopt = (rules: string) => {
    const { plan } = load({ path: 'gateway.yaml', text: textOf(rules) }, worldOf());
    if (plan === undefined) throw new Error('the manifest does not load');
    gateway.gateway.activate(plan);
  };
  return { ...gateway, upstream, adopt };
}

const statusOf = async (port: number, ...headers: string[]) =>
  (await ask(port, head('GET /x HTTP/1.1', ...headers))).status;

describe('headers of a request', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`);

  it('above their number are 431; another number is in force at once', async () => {
    const { port, adopt } = await start('{ limits: { headers: 10 } }');
    // Host and Connection count.
    expect(await statusOf(port, ...numbered(8))).toBe(200);
    expect(await statusOf(port, ...numbered(9))).toBe(431);
    const wire = await Wire.open(port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    expect((await wire.answer()).status).toBe(200);
    adopt('{ limits: { headers: 3 } }');
    wire.write(keptHead('GET /x HTTP/1.1', ...numbered(3)));
    expect((await wire.answer()).status).toBe(431);
    wire.end();
  });

  it('above their length are 431; another length is in force for the next connection', async () => {
    const { port, adopt } = await start('{ limits: { headerBytes: 2KB } }');
    expect(await statusOf(port, `X: ${'x'.repeat(1_500)}`)).toBe(200);
    expect(await statusOf(port, `X: ${'x'.repeat(2_500)}`)).toBe(431);
    expect((await ask(port, head(`GET /${'x'.repeat(2_500)} HTTP/1.1`))).status).toBe(431);
    adopt('{ limits: { headerBytes: 8KB } }');
    expect(await statusOf(port, `X: ${'x'.repeat(6_500)}`)).toBe(200);
  });
});

describe('a request that comes slowly', () => {
  it('is 408 when its head is late, however steadily it comes', async () => {
    const { port, upstream } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    wire.write('GET /x HTTP/1.1\r\nHost: gateway.test\r\n');
    const drip = setInterval(() => wire.write('X: 1\r\n'), 50);
    const started = performance.now();
    const answer = await wire.answer();
    clearInterval(drip);
    expect([answer.status, answer.json().code]).toEqual([408, 'request_timeout']);
    // Late requests are looked for once in a second.
    expect(performance.now() - started).toBeLessThan(2_500);
    await wire.closed();
    expect(upstream.requests).toEqual([]);
  });

  it('is 408 when the head of the second one on a connection is late', async () => {
    const { port } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    expect((await wire.answer()).status).toBe(200);
    wire.write('GET /x HTTP/1.1\r\n');
    expect((await wire.answer()).status).toBe(408);
    wire.end();
  });

  it('is 408 when its body is late, and never whole upstream', async () => {
    const { port, upstream, lines } = await start('{ timeouts: { request: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keptHead('POST /x HTTP/1.1', 'Content-Length: 100000'));
    const drip = setInterval(() => wire.write('x'), 50);
    expect((await wire.answer()).status).toBe(408);
    clearInterval(drip);
    await wire.closed();
    await eventually('both lines', () => lines.length === 2);
    expect(lines.find(({ status }) => status === 408)).toMatchObject({ refusal: 'request_timeout' });
    expect(lines.find(({ route }) => route === 'all')).toMatchObject({ aborted: true });
    expect(upstream.requests).toEqual([]);
  });

  it('may take longer than all other limits as long as it comes within its own', async () => {
    const { port, upstream } = await start('{ timeouts: { headers: 200ms, request: 60s, stalled: 400ms } }');
    const wire = await Wire.open(port);
    wire.write(keptHead('POST /x HTTP/1.1', 'Content-Length: 20'));
    for (let sent = 0; sent < 20; sent += 1) {
      wire.write('x');
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
    expect((await wire.answer()).status).toBe(200);
    expect(upstream.requests[0]?.body.length).toBe(20);
    wire.end();
  });

  it('whose answer has begun ends by a reset, since a close would be the end of that answer', async () => {
    const upstream = await startListening((_request, response) => void response.write('begun'));
    const server = '{ timeouts: { request: 300ms } }';
    const gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    OPEN.push(upstream.close, gateway.close);
    const wire = await Wire.open(gateway.port);
    const error = once(wire.socket, 'error');
    wire.write('POST /x HTTP/1.0\r\nHost: gateway.test\r\nContent-Length: 10\r\n\r\nhalf');
    await wire.until('begun');
    expect((await error)[0].code).toBe('ECONNRESET');
  });

  it('behind an answer that is read slowly does not cost that answer its end', async () => {
    const size = 20 * 1024 * 1024;
    const upstream = await startUpstream((_request, response) => void response.writeHead(404).end(Buffer.alloc(size)));
    // A held answer is written whole, so that it waits for the client and not for the upstream.
    const route =
      '  - { id: a, method: GET, path: /a, upstream: up, access: public, login: { token: /a, maxBytes: 50MB } }\n';
    const server = '{ timeouts: { headers: 300ms } }';
    const gateway = await startGateway(manifest(route, { up: upstream.url, server }));
    OPEN.push(upstream.close, gateway.close);
    const socket = await openSocket(gateway.port);
    socket.write(`${keptHead('GET /a HTTP/1.1')}GET /half`);
    await once(socket, 'readable');
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    let came = 0;
    socket.on('data', (chunk) => {
      came += chunk.length;
    });
    await once(socket, 'end');
    expect(came).toBeGreaterThan(size);
    socket.destroy();
  });

  it('or never begins ends its connection without a word', async () => {
    const { port, lines } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(lines).toEqual([]);
  });
});

describe('an idle connection', () => {
  it('is told how long it is kept, and closed after that; another time is in force at the next answer', async () => {
    const { port, adopt } = await start('{ timeouts: { keepAlive: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    await wire.answer();
    const started = performance.now();
    await wire.closed();
    expect(performance.now() - started).toBeGreaterThan(250);
    adopt('{}');
    const other = await Wire.open(port);
    other.write(keptHead('GET /x HTTP/1.1'));
    // Above what the load balancers of the large clouds keep: 60 s, 240 s, 600 s.
    expect((await other.answer()).value('keep-alive')).toBe('timeout=620');
    other.end();
  });
});

describe('connections', () => {
  it('above their number are closed as they open, and counted in the log without flooding it', async () => {
    const { port, told } = await start('{ limits: { connections: 2 } }');
    const kept = [await Wire.open(port), await Wire.open(port)];
    for (const wire of kept) {
      wire.write(keptHead('GET /x HTTP/1.1'));
      expect((await wire.answer()).status).toBe(200);
    }
    for (let index = 0; index < 20; index += 1) {
      const wire = await Wire.open(port);
      wire.write(keptHead('GET /x HTTP/1.1'));
      await wire.closed();
      expect(wire.rest).toBe('');
    }
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ level: 40, count: 1, msg: 'connections over the limit were closed' });
    // Those that stand are served on; one that ends makes room.
    kept[0]?.end();
    await eventually('there is room', async () => (await statusOf(port).catch(() => 0)) === 200);
    kept[1]?.write(keptHead('GET /x HTTP/1.1'));
    expect((await kept[1]?.answer())?.status).toBe(200);
    kept[1]?.end();
  });
});

describe('requests on one connection', () => {
  it('end with the last one, whose answer says so', async () => {
    const { port, upstream } = await start('{ limits: { requestsPerConnection: 3 } }');
    const wire = await Wire.open(port);
    for (const [number, connection] of [
      [1, 'keep-alive'],
      [2, 'keep-alive'],
      [3, 'close'],
    ]) {
      wire.write(keptHead(`GET /${number} HTTP/1.1`));
      const answer = await wire.answer();
      expect([answer.status, answer.value('connection')]).toEqual([200, connection]);
    }
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/1', '/2', '/3']);
  });

  it('that are pipelined beyond the last are neither forwarded nor answered', async () => {
    const { port, upstream, lines } = await start('{ limits: { requestsPerConnection: 2 } }');
    const wire = await Wire.open(port);
    wire.write([1, 2, 3, 4].map((number) => keptHead(`GET /${number} HTTP/1.1`)).join(''));
    expect((await wire.answer()).value('connection')).toBe('keep-alive');
    const last = await wire.answer();
    expect([last.status, last.body.toString(), last.value('connection')]).toEqual([200, 'ok', 'close']);
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/1', '/2']);
    expect(lines.map(({ path }) => path)).toEqual(['/1', '/2']);
  });

  it.each([
    ['heads', keptHead('GET /next HTTP/1.1', `X: ${'x'.repeat(8_000)}`)],
    ['bodies', `${keptHead('POST /next HTTP/1.1', 'Content-Length: 100000')}${'x'.repeat(100_000)}`],
  ])('leave the last answer whole, however long the client goes on to send %s', async (_what, next) => {
    const size = 6 * 1024 * 1024;
    const upstream = await startUpstream((_request, response) => void response.end(Buffer.alloc(size)));
    const server = '{ limits: { requestsPerConnection: 1 } }';
    const gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    OPEN.push(upstream.close, gateway.close);
    for (let round = 0; round < 3; round += 1) {
      const socket = await openSocket(gateway.port);
      let came = 0;
      socket.on('data', (chunk) => {
        came += chunk.length;
      });
      const end = endOf(socket);
      socket.write(keptHead('GET /x HTTP/1.1'));
      const more = setInterval(() => {
        if (socket.writableLength < 1_000_000) socket.write(next);
      }, 0);
      expect(await end).toBe('a clean end');
      clearInterval(more);
      expect(came).toBeGreaterThan(size);
    }
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/x', '/x', '/x']);
  });

  it('that come in a flood beyond the last cost no memory while its answer is late', async () => {
    const upstream = await startUpstream(() => undefined);
    const server = '{ limits: { requestsPerConnection: 1 } }';
    const forked = await forkGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    OPEN.push(upstream.close, forked.close);
    const socket = await openSocket(forked.port);
    const many = keptHead('GET /x HTTP/1.1').repeat(1_000);
    const before = (await forked.usage()).maxRssBytes;
    for (let round = 0; round < 400; round += 1) if (!socket.write(many)) await once(socket, 'drain');
    // As requests and answers they would take some 500 MB.
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(150 * 1024 * 1024);
    expect(upstream.requests.length).toBe(1);
    socket.destroy();
  });

  it('count refusals too; another number is in force at the next request', async () => {
    const { port, adopt } = await start('{}');
    const wire = await Wire.open(port);
    for (const path of ['/x', '/../x'.replace('..', '%zz')]) {
      if (path === '/x') adopt('{ limits: { requestsPerConnection: 2 } }');
      wire.write(keptHead(`GET ${path} HTTP/1.1`));
      await wire.answer();
    }
    await wire.closed();
  });
});
