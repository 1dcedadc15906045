import { once } from 'node:events';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startRawUpstream, startUpstreamServer, startWireUpstream, type WireResponse } from '../support/upstream.ts';

const OK = okResponse('ok');

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function okResponse(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function startScripted(respond: WireResponse | (() => WireResponse)) {
  const upstream = await startWireUpstream(() =>
    typeof respond === 'function' && respond.length === 0
      ? (respond as () => WireResponse)()
      : (respond as WireResponse),
  );
  closing.push(() => upstream.close());
  return upstream;
}

/** @param upstream the YAML definition of the only upstream */
async function serve(upstream: string, route = PUBLIC_ALL, files?: Record<string, string>): Promise<TestGateway> {
  const text = `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: ${upstream}\nroutes:\n${route}`;
  const running = await startGateway(text, {}, files);
  closing.push(() => running.close());
  return running;
}

const get = ({ port }: TestGateway, path = '/x') => sendRequest(port, head(`GET ${path} HTTP/1.1`));

describe('several endpoints', () => {
  it('take turns', async () => {
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => startScripted(okResponse(name))));
    const gateway = await serve(`{ urls: ['${a?.url}', '${b?.url}', '${c?.url}'] }`);
    const bodies: string[] = [];
    for (let count = 0; count < 9; count += 1) bodies.push((await get(gateway)).body.toString());
    expect(bodies.join('')).toBe('abcabcabc');
  });

  it('receive requests by the number of pending ones with `balance: least-pending`', async () => {
    const pending: Socket[] = [];
    const slow = await startScripted((socket) => void pending.push(socket));
    const fast = await startScripted(OK);
    const gateway = await serve(`{ urls: ['${slow.url}', '${fast.url}'], balance: least-pending }`);
    const waiting = get(gateway);
    await eventually('the slow endpoint has the first request', () => pending.length === 1);
    for (let count = 0; count < 5; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(fast.messages.length).toBe(5);
    pending[0]?.write(OK);
    expect((await waiting).status).toBe(200);
  });

  it('replace an endpoint that refuses the connection, for any method', async () => {
    const closed = await startWireUpstream(() => OK);
    await closed.close();
    const healthy = await startScripted(OK);
    const gateway = await serve(`{ urls: ['${closed.url}', '${healthy.url}'] }`);
    for (let count = 0; count < 4; count += 1) {
      const response = await sendRequest(gateway.port, `${head('POST /x HTTP/1.1', 'Content-Length: 4')}body`);
      expect(response.status).toBe(200);
    }
    expect(healthy.messages.map(({ body }) => body.toString())).toEqual(['body', 'body', 'body', 'body']);
  });

  it('are all tried before a request fails', async () => {
    const closed = await Promise.all([1, 2, 3].map(() => startWireUpstream(() => OK)));
    await Promise.all(closed.map((upstream) => upstream.close()));
    const gateway = await serve(`{ urls: [${closed.map(({ url }) => `'${url}'`).join(', ')}] }`);
    const response = await get(gateway);
    expect([response.status, response.json().code]).toEqual([502, 'upstream_unreachable']);
  });
});

describe('a retry', () => {
  /** Starts an upstream that responds to the first request of each connection and ends it at the second. */
  async function startFailing(end: (socket: Socket) => void) {
    const methods: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      let count = 0;
      socket.on('data', (chunk) => {
        methods.push(String(chunk).split(' ')[0] ?? '');
        count += 1;
        if (count === 1) socket.write(OK);
        else end(socket);
      });
    });
    closing.push(() => upstream.close());
    return { ...upstream, methods };
  }
  const CLOSE = (socket: Socket) => void socket.end();
  const RESET = (socket: Socket) => void socket.resetAndDestroy();

  it.each([
    ['GET', CLOSE],
    ['GET', RESET],
    ['HEAD', CLOSE],
    ['DELETE', RESET],
    ['OPTIONS', CLOSE],
  ])('repeats %s on a new connection after a reused connection closes', async (method, end) => {
    const upstream = await startFailing(end);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await sendRequest(gateway.port, head(`${method} /x HTTP/1.1`))).status).toBe(200);
    expect(upstream.methods).toEqual(['GET', method, method]);
    expect(upstream.sockets.length).toBe(2);
  });

  it('does not count as a failure for the breaker', async () => {
    const upstream = await startFailing(RESET);
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 1, pause: 1h } }`);
    for (let count = 0; count < 4; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.breakerOpenings).toBe(0);
  });

  it.each(['POST', 'PATCH'])('does not repeat %s', async (method) => {
    const upstream = await startFailing(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await sendRequest(gateway.port, head(`${method} /x HTTP/1.1`, 'Content-Length: 0'))).status).toBe(502);
    expect(upstream.methods).toEqual(['GET', method]);
  });

  it('does not repeat a PUT with a streamed body, which is already consumed', async () => {
    const upstream = await startFailing(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await sendRequest(gateway.port, `${head('PUT /x HTTP/1.1', 'Content-Length: 4')}body`)).status).toBe(502);
  });

  it('repeats a PUT with a buffered body', async () => {
    const bodies: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      let count = 0;
      socket.on('data', (chunk) => {
        bodies.push(String(chunk).split('\r\n\r\n')[1] ?? '');
        count += 1;
        if (count === 1) socket.write(OK);
        else socket.end();
      });
    });
    closing.push(() => upstream.close());
    const route =
      '  - { id: all, method: PUT, path: /x, upstream: up, access: public, body: { schema: { type: object } } }\n';
    const gateway = await serve(`{ url: '${upstream.url}' }`, route);
    const put = () =>
      sendRequest(
        gateway.port,
        `${head('PUT /x HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 7')}{"a":1}`,
      );
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(200);
    expect(bodies).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
  });

  // RFC 9112 section 2.2 lets a server ignore an empty line before a request. It has no such rule for responses, and the line may
  // as well be the end of an earlier response, so the bytes after it cannot be attributed.
  it.each([
    ['an empty line', '\r\n'],
    ['an empty line and the response', `\r\n${OK}`],
    ['empty lines and the response', `\r\n\r\n${OK}`],
    ['half of an empty line', '\r'],
  ])('does not happen if the upstream sends %s after the request', async (_case, bytes) => {
    const upstream = await startFailing((socket) => void socket.write(bytes));
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    const response = await get(gateway);
    expect([response.status, response.json().code]).toEqual([502, 'upstream_error']);
    expect((await get(gateway)).status).toBe(200);
    expect([upstream.methods, upstream.sockets.length]).toEqual([['GET', 'GET', 'GET'], 2]);
  });

  it('is not needed after an empty line that arrives before the request is sent', async () => {
    const upstream = await startFailing((socket) => void socket.write(OK));
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    upstream.sockets[0]?.write('\r\n');
    expect((await get(gateway)).status).toBe(200);
    expect([upstream.methods, upstream.sockets.length]).toEqual([['GET', 'GET'], 2]);
  });

  it('does not happen after the first byte of the response', async () => {
    const upstream = await startFailing((socket) => void socket.end('H'));
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
    expect(upstream.methods).toEqual(['GET', 'GET']);
  });

  it('happens at most once', async () => {
    const methods: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      socket.on('data', (chunk) => {
        methods.push(String(chunk).split(' ')[0] ?? '');
        if (methods.length === 1) socket.write(OK);
        else socket.end();
      });
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
    expect(methods.length).toBe(3);
  });

  it('does not happen for a request on a new connection', async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end());
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(502);
    expect(upstream.sockets.length).toBe(1);
  });

  describe('that waits for a connection', () => {
    /** Responds to `/first`, closes the connection of `/again`, and holds `/other`, which waited behind it. */
    async function startCrowded(timeouts: string) {
      const pending: Socket[] = [];
      const paths: string[] = [];
      const upstream = await startWireUpstream((request) => {
        const path = request.line.split(' ')[1] ?? '';
        paths.push(path);
        return path === '/first' ? OK : (socket) => void pending.push(socket);
      });
      closing.push(() => upstream.close());
      const gateway = await serve(`{ url: '${upstream.url}', connections: { limit: 1 }, timeouts: ${timeouts} }`);
      const waiting = () => gateway.gateway.upstreams[0]?.waiting;
      await get(gateway, '/first');
      const retried = await Wire.open(gateway.port);
      retried.write(keepAliveHead('GET /again HTTP/1.1'));
      await eventually('the request is at the upstream', () => pending.length === 1);
      const other = await Wire.open(gateway.port);
      other.write(keepAliveHead('GET /other HTTP/1.1'));
      await eventually('the other request waits', () => waiting() === 1);
      pending[0]?.destroy();
      await eventually('the other request is at the upstream', () => pending.length === 2);
      expect(waiting()).toBe(1);
      return { gateway, waiting, retried, other, pending, paths };
    }

    it('is dropped when its client disconnects', async () => {
      const { gateway, waiting, retried, other, pending, paths } = await startCrowded('{ connect: 30s }');
      retried.end();
      await eventually('nothing waits', () => waiting() === 0);
      pending[1]?.write(OK);
      expect((await other.response()).status).toBe(200);
      await get(gateway, '/first');
      expect(paths).toEqual(['/first', '/again', '/other', '/first']);
      other.end();
    });

    it('ends with 504 at the total timeout', async () => {
      const { retried, other, paths } = await startCrowded('{ connect: 30s, total: 1s }');
      const { status, json } = await retried.response();
      expect([status, json().code]).toEqual([504, 'upstream_timeout']);
      expect(paths).toEqual(['/first', '/again', '/other']);
      retried.end();
      other.end();
    });
  });

  it('does not happen with `retry: false`', async () => {
    const upstream = await startFailing(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}', retry: false }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
  });
});

describe('upstream connections', () => {
  const LIMITED = 'connections: { limit: 2, queue: 2 }';

  async function occupyConnections(rest = LIMITED) {
    const pending: Socket[] = [];
    const upstream = await startScripted((socket) => void pending.push(socket));
    const gateway = await serve(`{ url: '${upstream.url}', ${rest} }`);
    const first = [get(gateway, '/1'), get(gateway, '/2')];
    await eventually('both connections are in use', () => pending.length === 2);
    return { upstream, gateway, pending, first };
  }

  it('never exceed the limit, and waiting requests are served in order', async () => {
    const { upstream, gateway, pending, first } = await occupyConnections();
    const third = get(gateway, '/3');
    await eventually('the third waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    const fourth = get(gateway, '/4');
    await eventually('the fourth waits', () => gateway.gateway.upstreams[0]?.waiting === 2);
    pending[0]?.write(OK);
    await eventually('the third is served', () => pending.length === 3);
    pending[1]?.write(OK);
    await eventually('the fourth is served', () => pending.length === 4);
    pending[2]?.write(OK);
    pending[3]?.write(OK);
    for (const response of await Promise.all([...first, third, fourth])) expect(response.status).toBe(200);
    expect(upstream.messages.map(({ line }) => line.split(' ')[1]).slice(2)).toEqual(['/3', '/4']);
    expect(upstream.sockets.length).toBe(2);
  });

  it('are not reused while the breaker is open, and waiting requests keep their position and timeout', async () => {
    const pending = new Map<string, Socket>();
    const hold: WireResponse = (socket, { line }) => void pending.set(line.split(' ')[1] ?? '', socket);
    const [one, two] = [await startScripted(hold), await startScripted(hold)];
    const gateway = await serve(
      `{ urls: ['${one.url}', '${two.url}'], connections: { limit: 1, queue: 2 }, retry: false,
         breaker: { failures: 1, pause: 1m }, timeouts: { connect: 30s } }`,
    );
    const waiting = () => gateway.gateway.upstreams[0]?.waiting;
    const first = [get(gateway, '/1'), get(gateway, '/2')];
    await eventually('both connections are in use', () => pending.size === 2);
    const third = get(gateway, '/3');
    await eventually('the third waits', () => waiting() === 1);
    const fourth = get(gateway, '/4');
    await eventually('the fourth waits', () => waiting() === 2);
    pending.get('/1')?.destroy();
    expect((await first[0])?.status).toBe(502);
    expect(waiting()).toBe(2);
    pending.get('/2')?.write(OK);
    await eventually('the next request is served', () => pending.size === 3);
    expect([...pending.keys()].at(-1)).toBe('/3');
    pending.get('/3')?.write(OK);
    await eventually('the last request is served', () => pending.size === 4);
    pending.get('/4')?.write(OK);
    for (const response of await Promise.all([first[1], third, fourth])) expect(response?.status).toBe(200);
  });

  it('with a full queue lead to 503 with Retry-After at once', async () => {
    const { gateway, pending, first } = await occupyConnections('connections: { limit: 2, queue: 0 }');
    const response = await get(gateway);
    expect([response.status, response.json().code, response.value('retry-after')]).toEqual([503, 'upstream_busy', '1']);
    for (const socket of pending) socket.write(OK);
    await Promise.all(first);
  });

  it('that stay busy beyond the connect timeout lead to 503', async () => {
    const { gateway, pending, first } = await occupyConnections(`${LIMITED}, timeouts: { connect: 50ms }`);
    const response = await get(gateway);
    expect([response.status, response.json().code]).toEqual([503, 'upstream_busy']);
    for (const socket of pending) socket.write(OK);
    await Promise.all(first);
  });

  it('are not given to a client that disconnected while it waited', async () => {
    const { upstream, gateway, pending, first } = await occupyConnections();
    const client = await openSocket(gateway.port);
    client.write(keepAliveHead('GET /gone HTTP/1.1'));
    await eventually('the request waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    client.destroy();
    await eventually('nothing waits', () => gateway.gateway.upstreams[0]?.waiting === 0);
    for (const socket of pending) socket.write(OK);
    await Promise.all(first);
    expect(upstream.messages.length).toBe(2);
  });
});

describe('timeouts', () => {
  it('of the complete exchange return 504 before the response starts and cut it off afterwards', async () => {
    const silent = await startScripted(() => () => undefined);
    const gateway = await serve(`{ url: '${silent.url}', timeouts: { total: 50ms } }`);
    const response = await get(gateway);
    expect([response.status, response.json().code]).toEqual([504, 'upstream_timeout']);

    const trickle = await startUpstreamServer((_request, response) => {
      const timer = setInterval(() => response.write('x'), 5);
      response.on('close', () => clearInterval(timer));
    });
    closing.push(() => trickle.close());
    const other = await serve(`{ url: '${trickle.url}', timeouts: { total: 1s } }`);
    const client = await Wire.open(other.port);
    client.write(keepAliveHead('GET /x HTTP/1.1'));
    await client.closed();
    expect(client.rest).toMatch(/^HTTP\/1.1 200/);
    expect(client.rest).not.toContain('\r\n0\r\n');
  });

  it('of several weeks do not expire at once', async () => {
    const upstream = await startScripted(OK);
    const weeks = '600h';
    const gateway = await serve(
      `{ url: '${upstream.url}', timeouts: { connect: ${weeks}, response: ${weeks}, idle: ${weeks}, total: ${weeks} } }`,
    );
    expect((await get(gateway)).status).toBe(200);
  });

  it('of a route replace those of its upstream, shorter or longer', async () => {
    let release: (() => void) | undefined;
    const upstream = await startUpstreamServer((request, response) => {
      // Later than the timeouts of the upstream.
      if (request.url === '/late') void pause(600).then(() => response.end('late'));
      else release = () => response.end();
    });
    closing.push(() => upstream.close());
    const gateway = await serve(
      `{ url: '${upstream.url}', timeouts: { response: 200ms, total: 300ms } }`,
      `  - { id: late, method: GET, path: /late, upstream: up, access: public, timeout: 10s }
  - { id: hasty, method: GET, path: /hasty, upstream: up, access: public, timeout: 20ms }
  - { id: default, method: GET, path: /default, upstream: up, access: public }
`,
    );
    const order: string[] = [];
    const refused = ['/default', '/hasty'].map(async (path) => {
      expect((await get(gateway, path)).status).toBe(504);
      order.push(path);
    });
    await Promise.all(refused);
    expect(order).toEqual(['/hasty', '/default']);
    expect((await get(gateway, '/late')).body.toString()).toBe('late');
    release?.();
  });
});

describe('the breaker', () => {
  it('opens after consecutive failures, allows one request after its pause, and closes when it succeeds', async () => {
    // The breaker reads this clock. It stands still, so that a slow machine does not end the pause.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let isBroken = true;
    const upstream = await startScripted(() => (isBroken ? (socket: Socket) => void socket.destroy() : OK));
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 2, pause: 300ms } }`);
    const state = () => gateway.gateway.upstreams[0]?.endpoints[0]?.breaker;
    expect([(await get(gateway)).status, state()]).toEqual([502, 'closed']);
    expect([(await get(gateway)).status, state()]).toEqual([502, 'open']);
    const response = await get(gateway);
    expect([response.status, response.json().code, response.value('retry-after')]).toEqual([
      503,
      'upstream_unavailable',
      '1',
    ]);
    expect(upstream.messages.length).toBe(2);
    isBroken = false;
    vi.advanceTimersByTime(300);
    expect(state()).toBe('half-open');
    expect([(await get(gateway)).status, state()]).toEqual([200, 'closed']);
  });

  it('counts neither a response of any status nor a client that disconnects as a failure', async () => {
    const pending: Socket[] = [];
    const upstream = await startUpstreamServer((request, response) => {
      if (request.url === '/hold') pending.push(request.socket);
      else response.writeHead(503).end();
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 1 } }`);
    expect((await get(gateway)).status).toBe(503);
    const client = await openSocket(gateway.port);
    client.write(keepAliveHead('GET /hold HTTP/1.1'));
    await eventually('the request is at the upstream', () => pending.length === 1);
    client.destroy();
    await eventually('the request is aborted', () => pending[0]?.destroyed === true);
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe('closed');
  });

  it('counts a timeout as a failure unless the client had not sent its complete body', async () => {
    const silent = await startScripted(() => () => undefined);
    const gateway = await serve(
      `{ url: '${silent.url}', breaker: { failures: 1 } }`,
      PUBLIC_ALL.replace(' }', ', timeout: 100ms }'),
    );
    const state = () => gateway.gateway.upstreams[0]?.endpoints[0]?.breaker;
    const slow = await Wire.open(gateway.port);
    slow.write(`${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 10')}half`);
    expect([(await slow.response()).status, state()]).toEqual([504, 'closed']);
    slow.end();
    expect([(await get(gateway)).status, state()]).toEqual([504, 'open']);
  });

  it('skips its endpoint while others are available', async () => {
    const broken = await startScripted((socket) => void socket.destroy());
    const healthy = await startScripted(OK);
    const gateway = await serve(`{ urls: ['${broken.url}', '${healthy.url}'], breaker: { failures: 1, pause: 1h } }`);
    expect((await get(gateway)).status).toBe(502);
    for (let count = 0; count < 6; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(broken.messages.length).toBe(1);
  });
});

describe('the health check', () => {
  it('removes and restores an endpoint after consecutive results', async () => {
    let isHealthy = true;
    const upstream = await startUpstreamServer((request, response) => {
      response.writeHead(request.url === '/healthz' && !isHealthy ? 500 : 200).end('ok');
    });
    closing.push(() => upstream.close());
    const rule = '{ path: /healthz, interval: 10ms, healthy: 2, unhealthy: 2 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    const health = () => gateway.gateway.upstreams[0]?.endpoints[0]?.health;
    expect((await get(gateway)).status).toBe(200);
    isHealthy = false;
    await eventually('the endpoint is unhealthy', () => health() === 'unhealthy');
    const response = await get(gateway);
    expect([response.status, response.json().code]).toEqual([503, 'upstream_unavailable']);
    isHealthy = true;
    await eventually('the endpoint is healthy', () => health() === 'healthy');
    expect((await get(gateway)).status).toBe(200);
  });

  it('accepts a response with a long body', async () => {
    let status = 500;
    const page = Buffer.alloc(300_000);
    const upstream = await startUpstreamServer((_request, response) => void response.writeHead(status).end(page));
    closing.push(() => upstream.close());
    const rule = '{ path: /, interval: 10ms, healthy: 1, unhealthy: 1 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    await eventually(
      'the endpoint is unhealthy',
      () => gateway.gateway.upstreams[0]?.endpoints[0]?.health === 'unhealthy',
    );
    status = 200;
    await eventually('the endpoint is healthy', () => gateway.gateway.upstreams[0]?.endpoints[0]?.health === 'healthy');
  });

  it.each([
    ['is silent', () => undefined],
    ['sends a head and no end', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx')],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['redirects', (socket: Socket) => void socket.write('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n')],
  ])('marks an endpoint that %s as unhealthy', async (_case, talk) => {
    const upstream = await startScripted(() => talk);
    const rule = '{ path: /healthz, interval: 10ms, timeout: 30ms, unhealthy: 2 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    await eventually(
      'the endpoint is unhealthy',
      () => gateway.gateway.upstreams[0]?.endpoints[0]?.health === 'unhealthy',
    );
  });

  it('stops with the gateway', async () => {
    const upstream = await startScripted(OK);
    const gateway = await serve(`{ url: '${upstream.url}', health: { path: /healthz, interval: 10ms } }`);
    await eventually('it sends requests', () => upstream.messages.length > 2);
    await gateway.close();
    const before = upstream.messages.length;
    await serve(`{ url: '${upstream.url}', health: { path: /other, interval: 10ms } }`);
    await eventually('another gateway sends requests', () => upstream.messages.length > before + 5);
    expect(upstream.messages.slice(before).filter(({ line }) => line.includes('/healthz'))).toEqual([]);
  });
});

const PAIRS = { address: createPair(), named: createPair({ host: 'contacts.internal' }), client: createPair() };
const FILES = {
  'address.pem': PAIRS.address.certificate,
  'named.pem': PAIRS.named.certificate,
  'client.pem': PAIRS.client.certificate,
  'client.key': PAIRS.client.key,
};

describe('TLS to the upstream', () => {
  async function startTls(
    name: 'address' | 'named',
    options: object = {},
  ): Promise<{ url: string; server: TlsServer; names: string[] }> {
    const names: string[] = [];
    const server = createTlsServer(
      { key: PAIRS[name].key, cert: PAIRS[name].certificate, ...options },
      (request, response) => {
        names.push(String((request.socket as unknown as { servername: unknown }).servername));
        response.end('secret');
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, server, names };
  }

  it('fails if no trusted authority signed the certificate', async () => {
    const { url } = await startTls('address');
    const response = await get(await serve(`{ url: '${url}' }`));
    expect([response.status, response.json().code]).toEqual([502, 'upstream_error']);
  });

  it('trusts the configured authority, and sends no server name for an IP address, for any Host of the client', async () => {
    const { url, names } = await startTls('address');
    const gateway = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(gateway)).body.toString()).toBe('secret');
    expect(
      (await sendRequest(gateway.port, 'GET /x HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).status,
    ).toBe(200);
    expect(names).toEqual(['false', 'false']);
  });

  it('sends the configured server name and verifies the certificate against it', async () => {
    const { url, names } = await startTls('named');
    const named = await serve(
      `{ url: '${url}', tls: { ca: ./named.pem, serverName: contacts.internal } }`,
      PUBLIC_ALL,
      FILES,
    );
    expect((await get(named)).body.toString()).toBe('secret');
    expect(names).toEqual(['contacts.internal']);
    const other = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(other)).status).toBe(502);
  });

  it('sends the client certificate of the manifest', async () => {
    const { url } = await startTls('address', { ca: FILES['client.pem'], requestCert: true, rejectUnauthorized: true });
    const tls = '{ ca: ./address.pem, certificate: ./client.pem, key: ./client.key }';
    const withCertificate = await serve(`{ url: '${url}', tls: ${tls} }`, PUBLIC_ALL, FILES);
    expect((await get(withCertificate)).body.toString()).toBe('secret');
    const withoutCertificate = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(withoutCertificate)).status).toBe(502);
  });

  it('retries a request that a reused connection lost', async () => {
    let count = 0;
    const { url, server } = await startTls('address');
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      count += 1;
      if (count === 2) request.socket.end();
      else response.end('ok');
    });
    const gateway = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(200);
    expect(count).toBe(3);
  });

  it('times out with 504 if the upstream never completes the handshake', async () => {
    const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(() => void silent.close());
    const gateway = await serve(
      `{ url: 'https://127.0.0.1:${(silent.address() as AddressInfo).port}', timeouts: { connect: 100ms } }`,
    );
    expect((await get(gateway)).status).toBe(504);
  });
});

describe('a new plan', () => {
  it('keeps the connections of an unchanged upstream and drains the others', async () => {
    const pending: Socket[] = [];
    const unchanged = await startScripted(OK);
    const removed = await startScripted((socket) => void pending.push(socket));
    const text = (more: string) => `version: 1
listen: 127.0.0.1:0
upstreams:
  unchanged: { url: '${unchanged.url}' }
${more}
routes:
  - { id: unchanged, method: GET, path: /unchanged, upstream: unchanged, access: public }
`;
    const gateway = await startGateway(
      `${text(`  removed: { url: '${removed.url}' }`)}  - { id: removed, method: GET, path: /removed, upstream: removed, access: public }\n`,
    );
    closing.push(() => gateway.close());
    expect((await get(gateway, '/unchanged')).status).toBe(200);
    const inFlight = get(gateway, '/removed');
    await eventually('the request is in flight', () => pending.length === 1);
    gateway.swap(text(''));
    expect((await get(gateway, '/removed')).status).toBe(404);
    expect((await get(gateway, '/unchanged')).status).toBe(200);
    expect(unchanged.sockets.length).toBe(1);
    pending[0]?.write(OK);
    expect((await inFlight).status).toBe(200);
    await eventually('its connection ends', () => pending[0]?.destroyed === true);
  });
});
