import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause, stoppedCount, turns } from '../support/pause.ts';
import { chunked, head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { scaledMs } from '../support/slowness.ts';
import { startRawUpstream, startWireUpstream, type WireResponse, type WireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const TIMEOUTS = `{ connect: ${scaledMs(300)}ms, response: ${scaledMs(200)}ms, idle: ${scaledMs(200)}ms }`;

let upstream: WireUpstream;
let upstreamResponse: WireResponse = OK;
/** After each test, both gateways must serve a valid request. No timeout of this one passes. */
let gateway: TestGateway;
/** A gateway with short timeouts. */
let impatient: TestGateway;

const warnings: Error[] = [];
const warn = (warning: Error) => void warnings.push(warning);

beforeAll(async () => {
  process.on('warning', warn);
  upstream = await startWireUpstream(() => upstreamResponse);
  const timeouts = '{ response: 1h, idle: 1h }';
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, timeouts }));
  impatient = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, timeouts: TIMEOUTS }));
});

afterAll(async () => {
  await gateway.close();
  await impatient.close();
  await upstream.close();
  process.off('warning', warn);
  expect(warnings.map(({ name }) => name)).not.toContain('MaxListenersExceededWarning');
});

afterEach(async () => {
  upstreamResponse = OK;
  for (const { port } of [gateway, impatient]) {
    const next = await sendRequest(port, head('GET /next HTTP/1.1'));
    expect([next.status, next.body.toString()]).toEqual([200, 'ok']);
  }
  upstream.messages.length = 0;
});

const get = (port = gateway.port) => sendRequest(port, head('GET /x HTTP/1.1'));

async function expectRefusal(status: number, code: string, manifestUrl: string, timeouts = TIMEOUTS) {
  const running = await startGateway(manifest(PUBLIC_ALL, { up: manifestUrl, timeouts }));
  const got = await sendRequest(running.port, head('GET /x HTTP/1.1'));
  expect([got.status, got.json().code]).toEqual([status, code]);
  await running.close();
}

describe('an upstream that is not reachable', () => {
  it('causes 502 if it refuses the connection', async () => {
    const closed = await startWireUpstream(() => OK);
    await closed.close();
    await expectRefusal(502, 'upstream_unreachable', closed.url);
  });

  it('causes 502 if its name does not resolve', async () => {
    await expectRefusal(502, 'upstream_unreachable', 'http://no-such-host.invalid:80', '{}');
  });

  it('causes 504 if it does not accept the connection in time', async () => {
    const listener = await startUnacceptingListener();
    await expectRefusal(504, 'upstream_timeout', listener.url);
    listener.close();
  });

  it('gets requests at once when it is reachable again', async () => {
    const first = await startWireUpstream(() => OK);
    const running = await startGateway(manifest(PUBLIC_ALL, { up: first.url }));
    expect((await get(running.port)).status).toBe(200);
    await first.close();
    expect((await get(running.port)).status).toBe(502);
    const second = await startWireUpstream(() => OK, Number(new URL(first.url).port));
    expect((await get(running.port)).status).toBe(200);
    await running.close();
    await second.close();
  });
});

/** Upstream errors before the first byte of the response to the client, by title. */
const INVALID: Record<string, WireResponse> = {
  'closes without a byte': (socket) => void socket.end(),
  'resets without a byte': (socket) => void socket.resetAndDestroy(),
  'closes in mid-head': (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-'),
  'resets in mid-head': (socket) => void socket.write('HTTP/1.1 200 OK\r\n', () => socket.resetAndDestroy()),
  'responds with garbage': 'garbage\r\n\r\n',
  'responds with bytes that are not text': Buffer.from([0, 1, 2, 255, 13, 10, 13, 10]),
  'responds with TLS': Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
  'responds with SSH': 'SSH-2.0-OpenSSH_9.0\r\n',
  'responds with a request': 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'responds in HTTP/2': 'HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'responds in an unknown version': 'HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status of two digits': 'HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status of four digits': 'HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nok',
  'has the status 000': 'HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nok',
  'has the status 099': 'HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status in letters': 'HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok',
  'switches protocols without a request for it':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello',
  'switches protocols without a name': 'HTTP/1.1 101 Switching Protocols\r\n\r\nhello',
  'has a control character in its reason': 'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok',
  'has a NUL in its reason': 'HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nok',
  'has a CR in its reason': 'HTTP/1.1 200 O\rX: 1\r\nContent-Length: 2\r\n\r\nok',
  'has a header name with a space': 'HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 2\r\n\r\nok',
  'has a header without a name': 'HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 2\r\n\r\nok',
  'has a header without a colon': 'HTTP/1.1 200 OK\r\nnothing\r\nContent-Length: 2\r\n\r\nok',
  'has a space before a colon': 'HTTP/1.1 200 OK\r\nX : x\r\nContent-Length: 2\r\n\r\nok',
  'has a NUL in a header': 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok',
  'has a CR in a header': 'HTTP/1.1 200 OK\r\nX: a\rY: b\r\nContent-Length: 2\r\n\r\nok',
  'has 20 kB of headers': `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`,
  'has 20 kB of small headers': `HTTP/1.1 200 OK\r\n${'X: aaaaaaaaaaaa\r\n'.repeat(1_600)}Content-Length: 2\r\n\r\nok`,
  'has a length before chunked encoding':
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'has a length behind chunked encoding':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'has two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
  'has a list of lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok',
  'has an invalid length': 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok',
  'has a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok',
  'has a transfer encoding beside chunked': `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunked('ok')}`,
  'has a transfer encoding that is not chunked': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok'),
};

describe('an upstream whose response is invalid from the start', () => {
  it.each(Object.entries(INVALID))('causes 502 if it %s', async (_title, bytes) => {
    upstreamResponse = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    // The short timeouts turn a hang into a failure here.
    const got = await get(impatient.port);
    expect([got.status, got.json().code]).toEqual([502, 'upstream_error']);
    expect(got.values('x')).toEqual([]);
    expect(upstream.messages.filter(({ line }) => line === 'GET /x HTTP/1.1').length).toBeLessThanOrEqual(2);
  });

  it.each(Object.entries(INVALID))('gets a POST only once if it %s', async (_title, bytes) => {
    upstreamResponse = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    const got = await sendRequest(impatient.port, `${head('POST /once HTTP/1.1', 'Content-Length: 2')}ab`);
    expect(got.status).toBe(502);
    expect(upstream.messages.filter(({ line }) => line === 'POST /once HTTP/1.1')).toHaveLength(1);
  });
});

describe('an unusual but unambiguous response', () => {
  it('may follow 100 Continue without an expectation', async () => {
    upstreamResponse = `HTTP/1.1 100 Continue\r\n\r\n${OK}`;
    expect((await get(impatient.port)).status).toBe(200);
  });

  it.each(['204 No Content', '304 Not Modified'])('loses its body if its status is %s', async (status) => {
    upstreamResponse = `HTTP/1.1 ${status}\r\nContent-Length: 5\r\nX-Other: 1\r\n\r\nhello`;
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    const got = await wire.response();
    expect([`${got.status} ${got.reason}`, got.value('x-other')]).toEqual([status, '1']);
    if (got.status === 204) expect(got.values('content-length')).toEqual([]);
    upstreamResponse = OK;
    wire.write(keepAliveHead('GET /y HTTP/1.1'));
    expect((await wire.response()).body.toString()).toBe('ok');
    expect(wire.rest).toBe('');
    wire.end();
  });

  it('never becomes the response to another request if bytes follow it', async () => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
    for (const extra of [`${OK}${poison}`, `${OK}${poison}${poison}`, `${OK}extra`, `${OK}\r\n\r\n`]) {
      upstreamResponse = (socket) => {
        upstreamResponse = OK;
        socket.write(extra);
      };
      const all = await Promise.all([get(), get(), get()]);
      for (let index = 0; index < 5; index += 1) all.push(await get());
      expect(all.map(({ status, body }) => `${status} ${body}`)).toEqual(Array(8).fill('200 ok'));
    }
  });

  it.each([
    ['HEAD', '200 OK'],
    ['GET', '204 No Content'],
    ['GET', '304 Not Modified'],
  ])('never lets a late body behind %s, %s become the response to another request', async (method, status) => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
    const late: Socket[] = [];
    upstreamResponse = (socket, { line }) => {
      if (line.includes('/next')) {
        for (const lateSocket of late.splice(0)) lateSocket.write(poison);
        socket.write(OK);
      } else {
        late.push(socket);
        socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${poison.length}\r\n\r\n`);
      }
    };
    const got = await sendRequest(gateway.port, head(`${method} /first HTTP/1.1`));
    expect(`${got.status} ${got.reason}`).toBe(status);
    const next = await sendRequest(gateway.port, head('GET /next HTTP/1.1'));
    expect([next.status, next.body.toString()]).toEqual([200, 'ok']);
  });

  it('may have Trailer beside Content-Length, or is refused', async () => {
    upstreamResponse = 'HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 2\r\n\r\nok';
    expect([200, 502]).toContain((await get(impatient.port)).status);
  });

  it('without framing ends when the upstream closes the connection', async () => {
    upstreamResponse = (socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nold');
    const got = await get();
    expect([got.status, got.body.toString(), got.isComplete]).toEqual([200, 'old', true]);
  });
});

describe('a slow upstream', () => {
  it('causes 504 if it never responds', async () => {
    const waiting: Socket[] = [];
    upstreamResponse = (socket) => void waiting.push(socket);
    const got = await get(impatient.port);
    expect([got.status, got.json().code]).toEqual([504, 'upstream_timeout']);
    await eventually('the gateway aborts the exchange', () => waiting.every((socket) => socket.destroyed));
    expect(waiting).toHaveLength(1);
  });

  it('causes 504 if it stays silent after a 1xx response', async () => {
    upstreamResponse = 'HTTP/1.1 102 Processing\r\n\r\n';
    expect((await get(impatient.port)).status).toBe(504);
  });

  it('causes 504 if it sends an endless head byte by byte', async () => {
    let timer: NodeJS.Timeout | undefined;
    upstreamResponse = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    };
    expect((await get(impatient.port)).status).toBe(504);
    clearInterval(timer);
  });

  it('does not cause 504 during a slow upload', async () => {
    const wire = await Wire.open(impatient.port);
    wire.write(keepAliveHead('POST /slow HTTP/1.1', 'Content-Length: 8'));
    // Together the pauses are longer than each timeout, and a pause is much shorter.
    for (let index = 0; index < 8; index += 1) {
      await pause(scaledMs(50));
      wire.write('a');
    }
    expect((await wire.response()).status).toBe(200);
    wire.end();
  });
});

/** The beginnings of responses that are cut off, by framing. The client must notice that they are incomplete. */
const BEGINNINGS: Record<string, string> = {
  counted: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
  chunked: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
  'in mid-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf',
};

describe.each(Object.entries(BEGINNINGS))('a response that is cut off: %s', (_framing, beginning) => {
  it.each<[string, (socket: Socket) => void]>([
    ['by a close', (socket) => socket.end()],
    ['by a reset', (socket) => socket.resetAndDestroy()],
    ['by silence', () => undefined],
    ['by garbage', (socket) => socket.write('\r\nzz\r\n\r\n\0')],
  ])('%s resets the connection of the client', async (cause, cutOff) => {
    // Garbage within the Content-Length is part of the body.
    if (cause === 'by garbage' && !beginning.endsWith('half\r\n')) return;
    upstreamResponse = (socket) => {
      socket.write(beginning);
      cut = () => cutOff(socket);
    };
    let cut = () => {};
    const wire = await Wire.open(impatient.port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    await wire.until('half');
    cut();
    const got = await wire.response();
    expect([got.status, got.isComplete]).toEqual([200, false]);
    await wire.closed();
    await eventually('the access line', () => impatient.lines.at(-1)?.['path'] === '/x');
    expect(impatient.lines.at(-1)).toMatchObject({ status: 200, aborted: true });
  });

  it('is not a clean end for a client of HTTP/1.0', async () => {
    if (beginning.includes('Content-Length')) return;
    upstreamResponse = (socket) => {
      socket.write(beginning);
      cut = () => socket.resetAndDestroy();
    };
    let cut = () => {};
    const socket = await openSocket(impatient.port);
    const ended = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('a clean end'));
      socket.once('error', (error: Error & { code?: string }) => resolve(String(error.code)));
    });
    socket.write('GET /x HTTP/1.0\r\nHost: gateway.test\r\n\r\n');
    const wire = new Wire(socket);
    await wire.until('half');
    cut();
    expect(await ended).toBe('ECONNRESET');
  });
});

describe('a pooled connection that the upstream closes', () => {
  it('right after a response is not used again', async () => {
    upstreamResponse = (socket) => void socket.end(OK);
    for (let index = 0; index < 10; index += 1) expect((await get()).status).toBe(200);
  });

  it('during a request causes a retry of GET, never of POST', async () => {
    const received: string[] = [];
    const unreliable = await startWireUpstream((request) => {
      received.push(request.line);
      return received.length % 2 === 1 ? OK : (socket) => socket.destroy();
    });
    const running = await startGateway(manifest(PUBLIC_ALL, { up: unreliable.url }));
    for (const [method, limit] of [
      ['POST', 1],
      ['GET', 2],
    ] as const) {
      received.length = 0;
      expect((await sendRequest(running.port, head('GET /warm HTTP/1.1'))).status).toBe(200);
      const { status } = await sendRequest(running.port, head(`${method} /cold HTTP/1.1`));
      const count = received.filter((line) => line.includes('/cold')).length;
      expect(count).toBeLessThanOrEqual(limit);
      expect(status).toBe(count === 1 ? 502 : 200);
    }
    await running.close();
    await unreliable.close();
  });
});

describe('a client that disconnects', () => {
  /** Disconnects, and waits until the gateway closes its connection to the upstream. */
  async function disconnect(bytes: string, ready: (wire: Wire) => Promise<unknown>, method = 'destroy') {
    const opened = upstream.sockets.length;
    const wire = await Wire.open(gateway.port);
    wire.write(bytes);
    await ready(wire);
    const open = upstream.sockets.filter((socket) => !socket.destroyed);
    const socket = upstream.sockets.slice(opened).at(-1) ?? open.at(-1);
    if (socket === undefined) throw new Error('no connection to the upstream');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    if (method === 'reset') wire.socket.resetAndDestroy();
    else wire.socket.destroy();
    await closed;
  }

  it.each(['destroy', 'reset'])('before the response head has its exchange aborted (%s)', async (method) => {
    let onRequest = () => {};
    const requested = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    upstreamResponse = () => onRequest();
    await disconnect(keepAliveHead('GET /x HTTP/1.1'), () => requested, method);
    await eventually('the access line', () => gateway.lines.at(-1)?.['aborted'] === true);
    expect(gateway.lines.at(-1)).toMatchObject({ path: '/x', aborted: true });
    expect(gateway.lines.at(-1)).not.toHaveProperty('status');
  });

  it.each(['destroy', 'reset'])('during the response body has its exchange aborted (%s)', async (method) => {
    upstreamResponse = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf';
    await disconnect(keepAliveHead('GET /x HTTP/1.1'), (wire) => wire.until('half'), method);
  });

  it('while backpressure stops the upstream has its exchange aborted', async () => {
    upstreamResponse = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n');
      const block = Buffer.alloc(1_000_000);
      const fill = () => {
        while (!socket.destroyed && socket.write(block));
        socket.once('drain', fill);
      };
      fill();
    };
    await disconnect(keepAliveHead('GET /x HTTP/1.1'), async (wire) => {
      await wire.until('\r\n\r\n');
      wire.socket.pause();
      const sender = upstream.sockets.at(-1) as Socket;
      await stoppedCount(
        () => sender.bytesWritten,
        () => turns(10),
      );
    });
  });

  it.each([
    ['counted', keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 1000') + 'a'.repeat(10)],
    ['chunked', `${keepAliveHead('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}a\r\naaaaaaaaaa\r\n`],
  ])('during the upload has its exchange aborted (%s)', async (_framing, bytes) => {
    const before = upstream.bytes().length;
    await disconnect(bytes, () =>
      eventually('the upload has begun', () => upstream.bytes().subarray(before).includes('aaaaaaaaaa')),
    );
    expect(upstream.messages).toEqual([]);
  });

  it('while a pipelined request waits has the current exchange aborted and the next one dropped', async () => {
    const busy: Socket[] = [];
    upstreamResponse = (socket) => void busy.push(socket);
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /first HTTP/1.1') + keepAliveHead('GET /second HTTP/1.1'));
    await eventually('the first request reaches the upstream', () => busy.length === 1);
    const lines = gateway.lines.length;
    wire.end();
    await eventually('the gateway aborts its exchange', () => busy.every((socket) => socket.destroyed));
    await eventually('its access line', () => gateway.lines.length === lines + 1);
    upstreamResponse = OK;
    await get();
    expect(upstream.messages.some(({ line }) => line.includes('/second'))).toBe(false);
  });

  it('while the gateway connects to the upstream leaves no resources behind', async () => {
    const listener = await startUnacceptingListener();
    const running = await startGateway(manifest(PUBLIC_ALL, { up: listener.url, timeouts: TIMEOUTS }));
    const wire = await Wire.open(running.port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    await eventually('the gateway handles the request', () => running.gateway.metrics.inFlight === 1);
    await turns(10);
    wire.end();
    await eventually('the access line', () => running.lines.length === 1);
    expect(running.lines[0]).toMatchObject({ path: '/x', aborted: true });
    await running.close();
    listener.close();
  });

  it('a hundred times at each stage leaves no sockets and no listeners behind', async () => {
    await get();
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const idle = sockets();
    const before = upstream.sockets.filter((socket) => !socket.destroyed).length;
    for (const [bytes, reply, text] of [
      [keepAliveHead('GET /x HTTP/1.1'), '', ''],
      [keepAliveHead('GET /x HTTP/1.1'), 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', 'half'],
      [`${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 1000')}aaaa`, '', ''],
    ] as const) {
      for (let batch = 0; batch < 5; batch += 1) {
        upstreamResponse = reply;
        const offset = upstream.bytes().length;
        const wires = await Promise.all(Array.from({ length: 20 }, () => Wire.open(gateway.port)));
        for (const wire of wires) wire.write(bytes);
        if (text === '') await eventually('requests reach the upstream', () => upstream.bytes().length > offset);
        else await Promise.all(wires.map((wire) => wire.until(text)));
        for (const wire of wires) wire.end();
      }
    }
    await eventually('all sockets are closed', () => sockets() <= idle + 1);
    const open = () => upstream.sockets.filter((socket) => !socket.destroyed).length;
    await eventually('all connections to the upstream are closed', () => open() <= before);
  });
});

describe('a persistent client connection', () => {
  it('serves many requests, sequential and pipelined, without a listener leak', async () => {
    const wire = await Wire.open(gateway.port);
    const post = `${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 2')}ab`;
    for (const count of [...Array(30).fill(1), 30]) {
      wire.write(post.repeat(count));
      for (let index = 0; index < count; index += 1) expect((await wire.response()).status).toBe(200);
    }
    expect(upstream.messages).toHaveLength(60);
    expect(warnings).toEqual([]);
    wire.end();
  });

  it('serves the next request when an upload is complete whose response came early', async () => {
    const early = await startRawUpstream((socket) => {
      // The upstream stops reading, so backpressure stops the client when the response arrives.
      socket.once('data', (bytes) => {
        if (!String(bytes).startsWith('POST')) socket.write(OK);
        else void pause(100).then(() => socket.write('HTTP/1.1 202 X\r\nContent-Length: 2\r\n\r\nno'));
        socket.pause();
      });
    });
    const running = await startGateway(manifest(PUBLIC_ALL, { up: early.url }));
    const wire = await Wire.open(running.port);
    wire.write(keepAliveHead('POST /big HTTP/1.1', 'Content-Length: 20000000')).write(Buffer.alloc(20_000_000));
    wire.write(keepAliveHead('GET /next HTTP/1.1'));
    expect((await wire.response()).status).toBe(202);
    expect((await wire.response()).status).toBe(200);
    wire.end();
    await running.close();
    await early.close();
  });

  it('is closed if a client does not close it after a refusal', async () => {
    for (const bytes of ['garbage\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', head('GET /../x HTTP/1.1')]) {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const closed = new Promise((resolve) => socket.once('end', resolve));
      socket.resume();
      socket.write(bytes);
      await closed;
      // If the gateway kept its side open, writes to it would succeed forever.
      await eventually('the connection is closed', async () => {
        socket.write('x');
        return socket.destroyed || socket.errored !== null;
      });
      socket.destroy();
    }
  });
});

/** Starts a listener that accepts no connection and whose queue is full, so a connect to it hangs. */
async function startUnacceptingListener(): Promise<{ url: string; close(): void }> {
  const code = `const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ['--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const fillers = Array.from({ length: 8 }, () => connect({ port: Number(port), host: '127.0.0.1' }));
  for (const filler of fillers) filler.on('error', () => undefined);
  // The kernel accepts connections to itself at once, until the queue is full.
  await turns(20);
  expect(fillers.some((filler) => filler.connecting)).toBe(true);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
    },
  };
}
