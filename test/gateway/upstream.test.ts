import { once } from 'node:events';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { PUBLIC_ALL, type Running, startGateway } from '../support/gateway.ts';
import { ask, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startListening, startRawUpstream, startWireUpstream, type WireAnswer } from '../support/upstream.ts';

const OK = answer('ok');

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function answer(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function wire(say: WireAnswer | (() => WireAnswer)) {
  const upstream = await startWireUpstream(() =>
    typeof say === 'function' && say.length === 0 ? (say as () => WireAnswer)() : (say as WireAnswer),
  );
  closing.push(() => upstream.close());
  return upstream;
}

/** @param upstream the definition of the one upstream, as it stands in YAML */
async function serve(upstream: string, route = PUBLIC_ALL, files?: Record<string, string>): Promise<Running> {
  const text = `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: ${upstream}\nroutes:\n${route}`;
  const running = await startGateway(text, {}, files);
  closing.push(() => running.close());
  return running;
}

const get = ({ port }: Running, path = '/x') => ask(port, head(`GET ${path} HTTP/1.1`));

describe('several targets', () => {
  it('take turns', async () => {
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => wire(answer(name))));
    const gateway = await serve(`{ urls: ['${a?.url}', '${b?.url}', '${c?.url}'] }`);
    const bodies: string[] = [];
    for (let count = 0; count < 9; count += 1) bodies.push((await get(gateway)).body.toString());
    expect(bodies.join('')).toBe('abcabcabc');
  });

  it('get what the one with the fewest requests can take, where the manifest says so', async () => {
    const held: Socket[] = [];
    const slow = await wire((socket) => void held.push(socket));
    const quick = await wire(OK);
    const gateway = await serve(`{ urls: ['${slow.url}', '${quick.url}'], balance: least-pending }`);
    const waiting = get(gateway);
    await eventually('the first one is with the slow target', () => held.length === 1);
    for (let count = 0; count < 5; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(quick.messages.length).toBe(5);
    held[0]?.write(OK);
    expect((await waiting).status).toBe(200);
  });

  it('stand in for one that refuses the connection, whatever the method', async () => {
    const gone = await startWireUpstream(() => OK);
    await gone.close();
    const well = await wire(OK);
    const gateway = await serve(`{ urls: ['${gone.url}', '${well.url}'] }`);
    for (let count = 0; count < 4; count += 1) {
      const got = await ask(gateway.port, `${head('POST /x HTTP/1.1', 'Content-Length: 4')}body`);
      expect(got.status).toBe(200);
    }
    expect(well.messages.map(({ body }) => body.toString())).toEqual(['body', 'body', 'body', 'body']);
  });

  it('are all asked before a request fails', async () => {
    const gone = await Promise.all([1, 2, 3].map(() => startWireUpstream(() => OK)));
    await Promise.all(gone.map((upstream) => upstream.close()));
    const gateway = await serve(`{ urls: [${gone.map(({ url }) => `'${url}'`).join(', ')}] }`);
    const got = await get(gateway);
    expect([got.status, got.json().code]).toEqual([502, 'upstream_unreachable']);
  });
});

describe('a kept-alive connection that died', () => {
  /** Answers the first request of each connection, and ends the connection instead of answering the second. */
  async function mortal(end: (socket: Socket) => void) {
    const seen: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      let count = 0;
      socket.on('data', (chunk) => {
        seen.push(String(chunk).split(' ')[0] ?? '');
        count += 1;
        if (count === 1) socket.write(OK);
        else end(socket);
      });
    });
    closing.push(() => upstream.close());
    return { ...upstream, seen };
  }
  const CLOSE = (socket: Socket) => void socket.end();
  const RESET = (socket: Socket) => void socket.resetAndDestroy();

  it.each([
    ['GET', CLOSE],
    ['GET', RESET],
    ['HEAD', CLOSE],
    ['DELETE', RESET],
    ['OPTIONS', CLOSE],
  ])('without a byte: %s is sent once more, on a new connection', async (method, end) => {
    const upstream = await mortal(end);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await ask(gateway.port, head(`${method} /x HTTP/1.1`))).status).toBe(200);
    expect(upstream.seen).toEqual(['GET', method, method]);
    expect(upstream.sockets.length).toBe(2);
  });

  it('without a byte counts for no breaker when the request is sent once more', async () => {
    const upstream = await mortal(RESET);
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 1, pause: 1h } }`);
    for (let count = 0; count < 4; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.breakerOpenings).toBe(0);
  });

  it.each(['POST', 'PATCH'])('without a byte: %s is not sent a second time', async (method) => {
    const upstream = await mortal(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await ask(gateway.port, head(`${method} /x HTTP/1.1`, 'Content-Length: 0'))).status).toBe(502);
    expect(upstream.seen).toEqual(['GET', method]);
  });

  it('without a byte: PUT whose body went out is not sent a second time, since that body is gone', async () => {
    const upstream = await mortal(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await ask(gateway.port, `${head('PUT /x HTTP/1.1', 'Content-Length: 4')}body`)).status).toBe(502);
  });

  it('without a byte: PUT whose body was read and checked is sent once more', async () => {
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
      ask(gateway.port, `${head('PUT /x HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 7')}{"a":1}`);
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(200);
    expect(bodies).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
  });

  it('after a byte of the answer came: nothing is sent again', async () => {
    const upstream = await mortal((socket) => void socket.end('H'));
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
    expect(upstream.seen).toEqual(['GET', 'GET']);
  });

  it('twice: it is not tried a third time', async () => {
    const seen: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      socket.on('data', (chunk) => {
        seen.push(String(chunk).split(' ')[0] ?? '');
        if (seen.length === 1) socket.write(OK);
        else socket.end();
      });
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
    expect(seen.length).toBe(3);
  });

  it('is no reason to send again a request that went out on a new connection', async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end());
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}' }`);
    expect((await get(gateway)).status).toBe(502);
    expect(upstream.sockets.length).toBe(1);
  });

  describe('and whose request waits to be sent once more', () => {
    /** Answers `/first`, loses `/again` when it is told to, and holds `/other`, which was waiting behind it. */
    async function crowded(timeouts: string) {
      const held: Socket[] = [];
      const seen: string[] = [];
      const upstream = await startWireUpstream((request) => {
        const path = request.line.split(' ')[1] ?? '';
        seen.push(path);
        return path === '/first' ? OK : (socket) => void held.push(socket);
      });
      closing.push(() => upstream.close());
      const gateway = await serve(`{ url: '${upstream.url}', connections: { limit: 1 }, timeouts: ${timeouts} }`);
      const waiting = () => gateway.gateway.upstreams[0]?.waiting;
      await get(gateway, '/first');
      const again = await Wire.open(gateway.port);
      again.write(keptHead('GET /again HTTP/1.1'));
      await eventually('it is at the upstream', () => held.length === 1);
      const other = await Wire.open(gateway.port);
      other.write(keptHead('GET /other HTTP/1.1'));
      await eventually('the other one waits', () => waiting() === 1);
      held[0]?.destroy();
      await eventually('the other one is at the upstream', () => held.length === 2);
      expect(waiting()).toBe(1);
      return { gateway, waiting, again, other, held, seen };
    }

    it('is sent no more when its client leaves', async () => {
      const { gateway, waiting, again, other, held, seen } = await crowded('{ connect: 30s }');
      again.end();
      await eventually('nothing waits', () => waiting() === 0);
      held[1]?.write(OK);
      expect((await other.answer()).status).toBe(200);
      await get(gateway, '/first');
      expect(seen).toEqual(['/first', '/again', '/other', '/first']);
      other.end();
    });

    it('is answered when the time for all of it is over', async () => {
      const { again, other, seen } = await crowded('{ connect: 30s, total: 1s }');
      const { status, json } = await again.answer();
      expect([status, json().code]).toEqual([504, 'upstream_timeout']);
      expect(seen).toEqual(['/first', '/again', '/other']);
      again.end();
      other.end();
    });
  });

  it('is told as it is where the manifest says `retry: false`', async () => {
    const upstream = await mortal(CLOSE);
    const gateway = await serve(`{ url: '${upstream.url}', retry: false }`);
    expect((await get(gateway)).status).toBe(200);
    expect((await get(gateway)).status).toBe(502);
  });
});

describe('connections', () => {
  const LIMITED = 'connections: { limit: 2, queue: 2 }';

  async function occupied(rest = LIMITED) {
    const held: Socket[] = [];
    const upstream = await wire((socket) => void held.push(socket));
    const gateway = await serve(`{ url: '${upstream.url}', ${rest} }`);
    const first = [get(gateway, '/1'), get(gateway, '/2')];
    await eventually('both connections are in use', () => held.length === 2);
    return { upstream, gateway, held, first };
  }

  it('are never more than the limit; what waits is served in the order in which it came', async () => {
    const { upstream, gateway, held, first } = await occupied();
    const third = get(gateway, '/3');
    await eventually('the third waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    const fourth = get(gateway, '/4');
    await eventually('the fourth waits', () => gateway.gateway.upstreams[0]?.waiting === 2);
    held[0]?.write(OK);
    await eventually('the third is served', () => held.length === 3);
    held[1]?.write(OK);
    await eventually('the fourth is served', () => held.length === 4);
    held[2]?.write(OK);
    held[3]?.write(OK);
    for (const got of await Promise.all([...first, third, fourth])) expect(got.status).toBe(200);
    expect(upstream.messages.map(({ line }) => line.split(' ')[1]).slice(2)).toEqual(['/3', '/4']);
    expect(upstream.sockets.length).toBe(2);
  });

  it('are given up by a target that is passed over then: who waits longest waits on, in its place and for its time', async () => {
    const held = new Map<string, Socket>();
    const hold: WireAnswer = (socket, { line }) => void held.set(line.split(' ')[1] ?? '', socket);
    const [one, two] = [await wire(hold), await wire(hold)];
    const gateway = await serve(
      `{ urls: ['${one.url}', '${two.url}'], connections: { limit: 1, queue: 2 }, retry: false,
         breaker: { failures: 1, pause: 1m }, timeouts: { connect: 30s } }`,
    );
    const waiting = () => gateway.gateway.upstreams[0]?.waiting;
    const first = [get(gateway, '/1'), get(gateway, '/2')];
    await eventually('both connections are in use', () => held.size === 2);
    const third = get(gateway, '/3');
    await eventually('the third waits', () => waiting() === 1);
    const fourth = get(gateway, '/4');
    await eventually('the fourth waits', () => waiting() === 2);
    held.get('/1')?.destroy();
    expect((await first[0])?.status).toBe(502);
    expect(waiting()).toBe(2);
    held.get('/2')?.write(OK);
    await eventually('the next one is served', () => held.size === 3);
    expect([...held.keys()].at(-1)).toBe('/3');
    held.get('/3')?.write(OK);
    await eventually('the last one is served', () => held.size === 4);
    held.get('/4')?.write(OK);
    for (const got of await Promise.all([first[1], third, fourth])) expect(got?.status).toBe(200);
  });

  it('and a full queue is 503 at once, with Retry-After', async () => {
    const { gateway, held, first } = await occupied('connections: { limit: 2, queue: 0 }');
    const got = await get(gateway);
    expect([got.status, got.json().code, got.value('retry-after')]).toEqual([503, 'upstream_busy', '1']);
    for (const socket of held) socket.write(OK);
    await Promise.all(first);
  });

  it('and one that waits longer than to connect may take is 503', async () => {
    const { gateway, held, first } = await occupied(`${LIMITED}, timeouts: { connect: 50ms }`);
    const got = await get(gateway);
    expect([got.status, got.json().code]).toEqual([503, 'upstream_busy']);
    for (const socket of held) socket.write(OK);
    await Promise.all(first);
  });

  it('are not given to a client that left while it waited', async () => {
    const { upstream, gateway, held, first } = await occupied();
    const client = await openSocket(gateway.port);
    client.write(keptHead('GET /gone HTTP/1.1'));
    await eventually('it waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    client.destroy();
    await eventually('it waits no more', () => gateway.gateway.upstreams[0]?.waiting === 0);
    for (const socket of held) socket.write(OK);
    await Promise.all(first);
    expect(upstream.messages.length).toBe(2);
  });
});

describe('time limits', () => {
  it('of the whole exchange end one that goes on and on: nothing sent yet is 504, a begun answer is cut', async () => {
    const silent = await wire(() => () => undefined);
    const gateway = await serve(`{ url: '${silent.url}', timeouts: { total: 50ms } }`);
    const got = await get(gateway);
    expect([got.status, got.json().code]).toEqual([504, 'upstream_timeout']);

    const trickle = await startListening((_request, response) => {
      const timer = setInterval(() => response.write('x'), 5);
      response.on('close', () => clearInterval(timer));
    });
    closing.push(() => trickle.close());
    const other = await serve(`{ url: '${trickle.url}', timeouts: { total: 200ms } }`);
    const client = await Wire.open(other.port);
    client.write(keptHead('GET /x HTTP/1.1'));
    await client.closed();
    expect(client.rest).toMatch(/^HTTP\/1.1 200/);
    expect(client.rest).not.toContain('\r\n0\r\n');
  });

  it('of weeks are no time that is over at once', async () => {
    const upstream = await wire(OK);
    const ever = '600h';
    const gateway = await serve(
      `{ url: '${upstream.url}', timeouts: { connect: ${ever}, response: ${ever}, idle: ${ever}, total: ${ever} } }`,
    );
    expect((await get(gateway)).status).toBe(200);
  });

  it('of a route take the place of those of its upstream, shorter or longer', async () => {
    let release: (() => void) | undefined;
    const upstream = await startListening((request, response) => {
      if (request.url === '/late') setTimeout(() => response.end('late'), 1_500);
      else release = () => response.end();
    });
    closing.push(() => upstream.close());
    const gateway = await serve(
      `{ url: '${upstream.url}', timeouts: { response: 200ms, total: 300ms } }`,
      `  - { id: late, method: GET, path: /late, upstream: up, access: public, timeout: 10s }
  - { id: hasty, method: GET, path: /hasty, upstream: up, access: public, timeout: 20ms }
`,
    );
    const started = performance.now();
    expect((await get(gateway, '/hasty')).status).toBe(504);
    expect(performance.now() - started).toBeLessThan(280);
    expect((await get(gateway, '/late')).body.toString()).toBe('late');
    release?.();
  });
});

describe('the breaker', () => {
  it('opens after failures in a row, is tried once after its pause, and closes when that goes well', async () => {
    let isBroken = true;
    const upstream = await wire(() => (isBroken ? (socket: Socket) => void socket.destroy() : OK));
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 2, pause: 300ms } }`);
    const state = () => gateway.gateway.upstreams[0]?.endpoints[0]?.breaker;
    expect([(await get(gateway)).status, state()]).toEqual([502, 'closed']);
    expect([(await get(gateway)).status, state()]).toEqual([502, 'open']);
    const got = await get(gateway);
    expect([got.status, got.json().code, got.value('retry-after')]).toEqual([503, 'upstream_unavailable', '1']);
    expect(upstream.messages.length).toBe(2);
    isBroken = false;
    await eventually('the pause is over', () => state() === 'half-open');
    expect([(await get(gateway)).status, state()]).toEqual([200, 'closed']);
  });

  it('takes an answer of any status for an answer, and a client that leaves for none of the upstream', async () => {
    const held: Socket[] = [];
    const upstream = await startListening((request, response) => {
      if (request.url === '/hold') held.push(request.socket);
      else response.writeHead(503).end();
    });
    closing.push(() => upstream.close());
    const gateway = await serve(`{ url: '${upstream.url}', breaker: { failures: 1 } }`);
    expect((await get(gateway)).status).toBe(503);
    const client = await openSocket(gateway.port);
    client.write(keptHead('GET /hold HTTP/1.1'));
    await eventually('it is held', () => held.length === 1);
    client.destroy();
    await eventually('it was given up', () => held[0]?.destroyed === true);
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe('closed');
  });

  it('takes an exchange that had its time for a failure, unless the client was not done', async () => {
    const silent = await wire(() => () => undefined);
    const gateway = await serve(
      `{ url: '${silent.url}', breaker: { failures: 1 } }`,
      PUBLIC_ALL.replace(' }', ', timeout: 100ms }'),
    );
    const state = () => gateway.gateway.upstreams[0]?.endpoints[0]?.breaker;
    const slow = await Wire.open(gateway.port);
    slow.write(`${keptHead('POST /x HTTP/1.1', 'Content-Length: 10')}half`);
    expect([(await slow.answer()).status, state()]).toEqual([504, 'closed']);
    slow.end();
    expect([(await get(gateway)).status, state()]).toEqual([504, 'open']);
  });

  it('has a target passed over while others serve', async () => {
    const broken = await wire((socket) => void socket.destroy());
    const well = await wire(OK);
    const gateway = await serve(`{ urls: ['${broken.url}', '${well.url}'], breaker: { failures: 1, pause: 1h } }`);
    expect((await get(gateway)).status).toBe(502);
    for (let count = 0; count < 6; count += 1) expect((await get(gateway)).status).toBe(200);
    expect(broken.messages.length).toBe(1);
  });
});

describe('the health check', () => {
  it('takes a target out and lets it in again, by answers in a row', async () => {
    let isWell = true;
    const upstream = await startListening((request, response) => {
      response.writeHead(request.url === '/healthz' && !isWell ? 500 : 200).end('ok');
    });
    closing.push(() => upstream.close());
    const rule = '{ path: /healthz, interval: 10ms, healthy: 2, unhealthy: 2 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    const isTakenForWell = () => gateway.gateway.upstreams[0]?.endpoints[0]?.healthy;
    expect((await get(gateway)).status).toBe(200);
    isWell = false;
    await eventually('it is taken out', () => isTakenForWell() === false);
    const got = await get(gateway);
    expect([got.status, got.json().code]).toEqual([503, 'upstream_unavailable']);
    isWell = true;
    await eventually('it is let in', () => isTakenForWell() === true);
    expect((await get(gateway)).status).toBe(200);
  });

  it('takes a long page for an answer', async () => {
    let status = 500;
    const page = Buffer.alloc(300_000);
    const upstream = await startListening((_request, response) => void response.writeHead(status).end(page));
    closing.push(() => upstream.close());
    const rule = '{ path: /, interval: 10ms, healthy: 1, unhealthy: 1 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    await eventually('it is taken out', () => gateway.gateway.upstreams[0]?.endpoints[0]?.healthy === false);
    status = 200;
    await eventually('it is let in', () => gateway.gateway.upstreams[0]?.endpoints[0]?.healthy === true);
  });

  it.each([
    ['is silent', () => undefined],
    ['sends a head and no end', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx')],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['redirects', (socket: Socket) => void socket.write('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n')],
  ])('takes a target that %s for unwell', async (_what, talk) => {
    const upstream = await wire(() => talk);
    const rule = '{ path: /healthz, interval: 10ms, timeout: 30ms, unhealthy: 2 }';
    const gateway = await serve(`{ url: '${upstream.url}', health: ${rule} }`);
    await eventually('it is taken out', () => gateway.gateway.upstreams[0]?.endpoints[0]?.healthy === false);
  });

  it('ends with the gateway', async () => {
    const upstream = await wire(OK);
    const gateway = await serve(`{ url: '${upstream.url}', health: { path: /healthz, interval: 10ms } }`);
    await eventually('it asks', () => upstream.messages.length > 2);
    await gateway.close();
    const before = upstream.messages.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(upstream.messages.length).toBe(before);
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

  it('is refused when no known authority has signed', async () => {
    const { url } = await startTls('address');
    const got = await get(await serve(`{ url: '${url}' }`));
    expect([got.status, got.json().code]).toEqual([502, 'upstream_error']);
  });

  it('stands with the stated authority; an address is asked for by no name, whatever Host the client sends', async () => {
    const { url, names } = await startTls('address');
    const gateway = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(gateway)).body.toString()).toBe('secret');
    expect((await ask(gateway.port, 'GET /x HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).status).toBe(
      200,
    );
    expect(names).toEqual(['false', 'false']);
  });

  it('asks for the stated name and holds the certificate to it', async () => {
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

  it('shows the client certificate where the manifest has one', async () => {
    const { url } = await startTls('address', { ca: FILES['client.pem'], requestCert: true, rejectUnauthorized: true });
    const tls = '{ ca: ./address.pem, certificate: ./client.pem, key: ./client.key }';
    const known = await serve(`{ url: '${url}', tls: ${tls} }`, PUBLIC_ALL, FILES);
    expect((await get(known)).body.toString()).toBe('secret');
    const unknown = await serve(`{ url: '${url}', tls: { ca: ./address.pem } }`, PUBLIC_ALL, FILES);
    expect((await get(unknown)).status).toBe(502);
  });

  it('sends once more what a kept-alive connection lost', async () => {
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

  it('is 504 when the other side never shakes hands', async () => {
    const deaf = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    closing.push(() => void deaf.close());
    const gateway = await serve(
      `{ url: 'https://127.0.0.1:${(deaf.address() as AddressInfo).port}', timeouts: { connect: 100ms } }`,
    );
    expect((await get(gateway)).status).toBe(504);
  });
});

describe('a new plan', () => {
  it('keeps the connections of an upstream that did not change, and lets the others end', async () => {
    const held: Socket[] = [];
    const kept = await wire(OK);
    const gone = await wire((socket) => void held.push(socket));
    const text = (more: string) => `version: 1
listen: 127.0.0.1:0
upstreams:
  kept: { url: '${kept.url}' }
${more}
routes:
  - { id: kept, method: GET, path: /kept, upstream: kept, access: public }
`;
    const gateway = await startGateway(
      `${text(`  gone: { url: '${gone.url}' }`)}  - { id: gone, method: GET, path: /gone, upstream: gone, access: public }\n`,
    );
    closing.push(() => gateway.close());
    expect((await get(gateway, '/kept')).status).toBe(200);
    const inFlight = get(gateway, '/gone');
    await eventually('it is in flight', () => held.length === 1);
    gateway.swap(text(''));
    expect((await get(gateway, '/gone')).status).toBe(404);
    expect((await get(gateway, '/kept')).status).toBe(200);
    expect(kept.sockets.length).toBe(1);
    held[0]?.write(OK);
    expect((await inFlight).status).toBe(200);
    await eventually('its connection ends', () => held[0]?.destroyed === true);
  });
});
