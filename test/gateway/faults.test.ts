import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, type Running, startGateway } from '../support/gateway.ts';
import { ask, chunked, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startRawUpstream, startWireUpstream, type WireAnswer, type WireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const TIMEOUTS = '{ connect: 300ms, response: 200ms, idle: 200ms }';

let upstream: WireUpstream;
let answer: WireAnswer = OK;
/** The next valid request of each test goes here: the same process, without the short limits. */
let gateway: Running;
let hasty: Running;

const warnings: Error[] = [];
const warn = (warning: Error) => void warnings.push(warning);

beforeAll(async () => {
  process.on('warning', warn);
  upstream = await startWireUpstream(() => answer);
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
  hasty = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, timeouts: TIMEOUTS }));
});

afterAll(async () => {
  await gateway.close();
  await hasty.close();
  await upstream.close();
  process.off('warning', warn);
  expect(warnings.map(({ name }) => name)).not.toContain('MaxListenersExceededWarning');
});

afterEach(async () => {
  answer = OK;
  for (const { port } of [gateway, hasty]) {
    const next = await ask(port, head('GET /next HTTP/1.1'));
    expect([next.status, next.body.toString()]).toEqual([200, 'ok']);
  }
  upstream.messages.length = 0;
});

const get = (port = gateway.port) => ask(port, head('GET /x HTTP/1.1'));

async function expectRefusal(status: number, code: string, manifestUrl: string, timeouts = TIMEOUTS) {
  const running = await startGateway(manifest(PUBLIC_ALL, { up: manifestUrl, timeouts }));
  const started = performance.now();
  const got = await ask(running.port, head('GET /x HTTP/1.1'));
  expect([got.status, got.json().code]).toEqual([status, code]);
  expect(performance.now() - started).toBeLessThan(3_000);
  await running.close();
}

describe('an upstream that is not there', () => {
  it('and refuses the connection is 502', async () => {
    const gone = await startWireUpstream(() => OK);
    await gone.close();
    await expectRefusal(502, 'upstream_unreachable', gone.url);
  });

  it('and has no address is 502', async () => {
    await expectRefusal(502, 'upstream_unreachable', 'http://no-such-host.invalid:80', '{}');
  });

  it('and does not take the connection in time is 504', async () => {
    const deaf = await startDeaf();
    await expectRefusal(504, 'upstream_timeout', deaf.url);
    deaf.close();
  });

  it('and comes back is used at once', async () => {
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

/** Faults before anything has gone to the client. */
const BROKEN: Record<string, WireAnswer> = {
  'closes without a byte': (socket) => void socket.end(),
  'resets without a byte': (socket) => void socket.resetAndDestroy(),
  'closes in mid-head': (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-'),
  'resets in mid-head': (socket) => void socket.write('HTTP/1.1 200 OK\r\n', () => socket.resetAndDestroy()),
  'answers garbage': 'garbage\r\n\r\n',
  'answers bytes that are no text': Buffer.from([0, 1, 2, 255, 13, 10, 13, 10]),
  'answers as TLS': Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
  'answers as SSH': 'SSH-2.0-OpenSSH_9.0\r\n',
  'answers with a request': 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'answers in HTTP/2': 'HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'answers in a version that is none': 'HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status of two digits': 'HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status of four digits': 'HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nok',
  'has the status 000': 'HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nok',
  'has the status 099': 'HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok',
  'has a status in letters': 'HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok',
  'switches protocols unasked': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello',
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
  'states a length and chunks':
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'states chunks and a length':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'states two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
  'states a list of lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok',
  'states a length that is none': 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok',
  'states a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok',
  'has a transfer encoding that was not asked for': `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunked('ok')}`,
  'has a transfer encoding that is not chunked': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok'),
};

describe('an upstream whose answer is broken from the start', () => {
  it.each(Object.entries(BROKEN))('%s: 502', async (_what, bytes) => {
    answer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    // The stricter of the two limits turns a hang into a failure here.
    const got = await get(hasty.port);
    expect([got.status, got.json().code]).toEqual([502, 'upstream_error']);
    expect(got.values('x')).toEqual([]);
    expect(upstream.messages.filter(({ line }) => line === 'GET /x HTTP/1.1').length).toBeLessThanOrEqual(2);
  });

  it.each(Object.entries(BROKEN))('%s: a POST is not sent twice', async (_what, bytes) => {
    answer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    const got = await ask(hasty.port, `${head('POST /once HTTP/1.1', 'Content-Length: 2')}ab`);
    expect(got.status).toBe(502);
    expect(upstream.messages.filter(({ line }) => line === 'POST /once HTTP/1.1')).toHaveLength(1);
  });
});

describe('an answer that is odd but has one reading', () => {
  it('100 unasked is no answer', async () => {
    answer = `HTTP/1.1 100 Continue\r\n\r\n${OK}`;
    expect((await get(hasty.port)).status).toBe(200);
  });

  it.each(['204 No Content', '304 Not Modified'])('%s with a body is passed without it', async (status) => {
    answer = `HTTP/1.1 ${status}\r\nContent-Length: 5\r\nX-Kept: 1\r\n\r\nhello`;
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    const got = await wire.answer();
    expect([`${got.status} ${got.reason}`, got.value('x-kept')]).toEqual([status, '1']);
    if (got.status === 204) expect(got.values('content-length')).toEqual([]);
    answer = OK;
    wire.write(keptHead('GET /y HTTP/1.1'));
    expect((await wire.answer()).body.toString()).toBe('ok');
    expect(wire.rest).toBe('');
    wire.end();
  });

  it('bytes after an answer never become the answer to another request', async () => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
    for (const extra of [`${OK}${poison}`, `${OK}${poison}${poison}`, `${OK}extra`, `${OK}\r\n\r\n`]) {
      answer = (socket) => {
        answer = OK;
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
  ])('a body that comes late behind %s, %s, never becomes the answer to another request', async (method, status) => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
    const late: Socket[] = [];
    answer = (socket, { line }) => {
      if (line.includes('/next')) {
        for (const behind of late.splice(0)) behind.write(poison);
        socket.write(OK);
      } else {
        late.push(socket);
        socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${poison.length}\r\n\r\n`);
      }
    };
    const got = await ask(gateway.port, head(`${method} /first HTTP/1.1`));
    expect(`${got.status} ${got.reason}`).toBe(status);
    const next = await ask(gateway.port, head('GET /next HTTP/1.1'));
    expect([next.status, next.body.toString()]).toEqual([200, 'ok']);
  });

  it('Trailer with Content-Length is answered, one way or the other', async () => {
    answer = 'HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 2\r\n\r\nok';
    expect([200, 502]).toContain((await get(hasty.port)).status);
  });

  it('without framing ends where the upstream closes', async () => {
    answer = (socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nold');
    const got = await get();
    expect([got.status, got.body.toString(), got.isWhole]).toEqual([200, 'old', true]);
  });
});

describe('an upstream that is slow', () => {
  it('and never answers is 504', async () => {
    const asked: Socket[] = [];
    answer = (socket) => void asked.push(socket);
    const started = performance.now();
    const got = await get(hasty.port);
    expect([got.status, got.json().code]).toEqual([504, 'upstream_timeout']);
    expect(performance.now() - started).toBeLessThan(2_000);
    await eventually('the exchange is given up', () => asked.every((socket) => socket.destroyed));
    expect(asked).toHaveLength(1);
  });

  it('and stays silent after a 1xx is 504', async () => {
    answer = 'HTTP/1.1 102 Processing\r\n\r\n';
    expect((await get(hasty.port)).status).toBe(504);
  });

  it('and sends its head byte by byte, for ever, is 504', async () => {
    let timer: NodeJS.Timeout | undefined;
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    };
    expect((await get(hasty.port)).status).toBe(504);
    clearInterval(timer);
  });

  it('does not make a slow upload time out', async () => {
    const wire = await Wire.open(hasty.port);
    wire.write(keptHead('POST /slow HTTP/1.1', 'Content-Length: 8'));
    for (let index = 0; index < 8; index += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      wire.write('a');
    }
    expect((await wire.answer()).status).toBe(200);
    wire.end();
  });
});

/** What has come when the answer breaks off; the client must see that it is not whole. */
const BEGUN: Record<string, string> = {
  counted: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
  chunked: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
  'in mid-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf',
};

describe.each(Object.entries(BEGUN))('an answer, %s, that breaks off', (_framing, begun) => {
  it.each<[string, (socket: Socket) => void]>([
    ['by a close', (socket) => socket.end()],
    ['by a reset', (socket) => socket.resetAndDestroy()],
    ['by silence', () => undefined],
    ['by garbage', (socket) => socket.write('\r\nzz\r\n\r\n\0')],
  ])('%s cuts the client off', async (how, breakOff) => {
    // Within a length garbage is the body.
    if (how === 'by garbage' && !begun.endsWith('half\r\n')) return;
    answer = (socket) => {
      socket.write(begun);
      held = () => breakOff(socket);
    };
    let held = () => {};
    const wire = await Wire.open(hasty.port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    await wire.until('half');
    held();
    const got = await wire.answer();
    expect([got.status, got.isWhole]).toEqual([200, false]);
    await wire.closed();
    await eventually('the access line', () => hasty.lines.at(-1)?.['path'] === '/x');
    expect(hasty.lines.at(-1)).toMatchObject({ status: 200, aborted: true });
  });

  it('is no clean end for a client of HTTP/1.0 either', async () => {
    if (begun.includes('Content-Length')) return;
    answer = (socket) => {
      socket.write(begun);
      held = () => socket.resetAndDestroy();
    };
    let held = () => {};
    const socket = await openSocket(hasty.port);
    const ended = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('a clean end'));
      socket.once('error', (error: Error & { code?: string }) => resolve(String(error.code)));
    });
    socket.write('GET /x HTTP/1.0\r\nHost: gateway.test\r\n\r\n');
    const wire = new Wire(socket);
    await wire.until('half');
    held();
    expect(await ended).toBe('ECONNRESET');
  });
});

describe('a pooled connection that died', () => {
  it('right after an answer is not used again', async () => {
    answer = (socket) => void socket.end(OK);
    for (let index = 0; index < 10; index += 1) expect((await get()).status).toBe(200);
  });

  it('when it is used makes no POST come twice, and a GET at most', async () => {
    const seen: string[] = [];
    const moody = await startWireUpstream((request) => {
      seen.push(request.line);
      return seen.length % 2 === 1 ? OK : (socket) => socket.destroy();
    });
    const running = await startGateway(manifest(PUBLIC_ALL, { up: moody.url }));
    for (const [method, most] of [
      ['POST', 1],
      ['GET', 2],
    ] as const) {
      seen.length = 0;
      expect((await ask(running.port, head('GET /warm HTTP/1.1'))).status).toBe(200);
      const { status } = await ask(running.port, head(`${method} /cold HTTP/1.1`));
      const times = seen.filter((line) => line.includes('/cold')).length;
      expect(times).toBeLessThanOrEqual(most);
      expect(status).toBe(times === 1 ? 502 : 200);
    }
    await running.close();
    await moody.close();
  });
});

describe('a client that leaves', () => {
  const latencies: Record<string, number> = {};

  async function leave(stage: string, bytes: string, ready: (wire: Wire) => Promise<unknown>, way = 'destroy') {
    const opened = upstream.sockets.length;
    const wire = await Wire.open(gateway.port);
    wire.write(bytes);
    await ready(wire);
    const open = upstream.sockets.filter((socket) => !socket.destroyed);
    const socket = upstream.sockets.slice(opened).at(-1) ?? open.at(-1);
    if (socket === undefined) throw new Error('no connection to the upstream');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const left = performance.now();
    if (way === 'reset') wire.socket.resetAndDestroy();
    else wire.socket.destroy();
    await closed;
    latencies[stage] = performance.now() - left;
    expect(latencies[stage]).toBeLessThan(100);
  }

  it.each(['destroy', 'reset'])('while the head is awaited aborts the exchange (%s)', async (way) => {
    let came = () => {};
    const coming = new Promise<void>((resolve) => {
      came = resolve;
    });
    answer = () => came();
    await leave(`head, ${way}`, keptHead('GET /x HTTP/1.1'), () => coming, way);
    await eventually('the access line', () => gateway.lines.at(-1)?.['aborted'] === true);
    expect(gateway.lines.at(-1)).toMatchObject({ path: '/x', aborted: true });
    expect(gateway.lines.at(-1)).not.toHaveProperty('status');
  });

  it.each(['destroy', 'reset'])('in mid-body aborts the exchange (%s)', async (way) => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf';
    await leave(`body, ${way}`, keptHead('GET /x HTTP/1.1'), (wire) => wire.until('half'), way);
  });

  it('while the upstream is held back aborts the exchange', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n');
      const block = Buffer.alloc(1_000_000);
      const more = () => {
        while (!socket.destroyed && socket.write(block));
        socket.once('drain', more);
      };
      more();
    };
    await leave('held back', keptHead('GET /x HTTP/1.1'), async (wire) => {
      await wire.until('\r\n\r\n');
      wire.socket.pause();
      const sender = upstream.sockets.at(-1) as Socket;
      for (let last = -1; last !== sender.bytesWritten; ) {
        last = sender.bytesWritten;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
  });

  it.each([
    ['counted', keptHead('POST /x HTTP/1.1', 'Content-Length: 1000') + 'a'.repeat(10)],
    ['chunked', `${keptHead('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}a\r\naaaaaaaaaa\r\n`],
  ])('in mid-upload aborts the exchange, %s', async (framing, bytes) => {
    const before = upstream.bytes().length;
    await leave(`upload, ${framing}`, bytes, () =>
      eventually('the upload has begun', () => upstream.bytes().subarray(before).includes('aaaaaaaaaa')),
    );
    expect(upstream.messages).toEqual([]);
  });

  it('while a pipelined request waits behind another aborts the one and drops the other', async () => {
    const busy: Socket[] = [];
    answer = (socket) => void busy.push(socket);
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /first HTTP/1.1') + keptHead('GET /second HTTP/1.1'));
    await eventually('the first came', () => busy.length === 1);
    const lines = gateway.lines.length;
    wire.end();
    await eventually('its exchange is given up', () => busy.every((socket) => socket.destroyed), 1_000);
    await eventually('its access line', () => gateway.lines.length === lines + 1, 1_000);
    answer = OK;
    await get();
    expect(upstream.messages.some(({ line }) => line.includes('/second'))).toBe(false);
  });

  it('while the connection is not there yet leaves nothing behind', async () => {
    const deaf = await startDeaf();
    const running = await startGateway(manifest(PUBLIC_ALL, { up: deaf.url, timeouts: TIMEOUTS }));
    const wire = await Wire.open(running.port);
    wire.write(keptHead('GET /x HTTP/1.1'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    wire.end();
    await eventually('the access line', () => running.lines.length === 1);
    expect(running.lines[0]).toMatchObject({ path: '/x', aborted: true });
    await running.close();
    deaf.close();
  });

  it('a hundred times at each stage leaves no sockets, no handles and no listeners', async () => {
    await get();
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const idle = sockets();
    const before = upstream.sockets.filter((socket) => !socket.destroyed).length;
    for (const [bytes, reply, text] of [
      [keptHead('GET /x HTTP/1.1'), '', ''],
      [keptHead('GET /x HTTP/1.1'), 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', 'half'],
      [`${keptHead('POST /x HTTP/1.1', 'Content-Length: 1000')}aaaa`, '', ''],
    ] as const) {
      for (let batch = 0; batch < 5; batch += 1) {
        answer = reply;
        const seen = upstream.bytes().length;
        const wires = await Promise.all(Array.from({ length: 20 }, () => Wire.open(gateway.port)));
        for (const wire of wires) wire.write(bytes);
        if (text === '') await eventually('some came', () => upstream.bytes().length > seen);
        else await Promise.all(wires.map((wire) => wire.until(text)));
        for (const wire of wires) wire.end();
      }
    }
    await eventually('all sockets are gone', () => sockets() <= idle + 1);
    const open = () => upstream.sockets.filter((socket) => !socket.destroyed).length;
    await eventually('all connections to the upstream are gone', () => open() <= before);
  });

  it('reports how fast', () => {
    console.info(
      'abort latencies, ms:',
      Object.fromEntries(Object.entries(latencies).map(([stage, ms]) => [stage, Math.round(ms * 10) / 10])),
    );
  });
});

describe('a connection that is kept', () => {
  it('serves many requests, one by one and at once, without gathering listeners', async () => {
    const wire = await Wire.open(gateway.port);
    const post = `${keptHead('POST /x HTTP/1.1', 'Content-Length: 2')}ab`;
    for (const count of [...Array(30).fill(1), 30]) {
      wire.write(post.repeat(count));
      for (let index = 0; index < count; index += 1) expect((await wire.answer()).status).toBe(200);
    }
    expect(upstream.messages).toHaveLength(60);
    expect(warnings).toEqual([]);
    wire.end();
  });

  it('goes on behind an answer that came before the whole request, when that has come', async () => {
    const early = await startRawUpstream((socket) => {
      // It takes nothing, so that the client is held back when the answer comes.
      socket.once('data', (bytes) => {
        if (!String(bytes).startsWith('POST')) socket.write(OK);
        else setTimeout(() => socket.write('HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nno'), 100);
        socket.pause();
      });
    });
    const running = await startGateway(manifest(PUBLIC_ALL, { up: early.url }));
    const wire = await Wire.open(running.port);
    wire.write(keptHead('POST /big HTTP/1.1', 'Content-Length: 20000000')).write(Buffer.alloc(20_000_000));
    wire.write(keptHead('GET /next HTTP/1.1'));
    expect((await wire.answer()).status).toBe(413);
    expect((await wire.answer()).status).toBe(200);
    wire.end();
    await running.close();
    await early.close();
  });

  it('is let go when a client that was refused does not close', async () => {
    for (const bytes of ['garbage\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', head('GET /../x HTTP/1.1')]) {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const closed = new Promise((resolve) => socket.once('end', resolve));
      socket.resume();
      socket.write(bytes);
      await closed;
      // A write to a connection that the other side holds open on its own would go well for ever.
      await eventually('the connection is gone', async () => {
        socket.write('x');
        return socket.destroyed || socket.errored !== null;
      });
      socket.destroy();
    }
  });
});

/** A listener whose queue is full, and which takes no connection from it: a connect to it hangs. */
async function startDeaf(): Promise<{ url: string; close(): void }> {
  const code = `const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ['--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const fillers = Array.from({ length: 8 }, () => connect({ port: Number(port), host: '127.0.0.1' }));
  for (const filler of fillers) filler.on('error', () => undefined);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fillers.some((filler) => filler.connecting)).toBe(true);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
    },
  };
}
