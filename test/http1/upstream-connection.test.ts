import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createDial } from '../../src/engine/http1/dial.ts';
import { UpstreamConnection } from '../../src/engine/http1/upstream-connection.ts';
import type { ResponseSink, UpstreamRequest } from '../../src/engine/http1/upstream-request.ts';
import { load } from '../../src/engine/load.ts';
import { MemorySocket } from '../../src/prove/offline/memory-socket.ts';
import { manifest, PUBLIC_ALL, worldOf } from '../support/gateway.ts';
import { pause, turns } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';
import { TestUpload } from './test-upload.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type RequestFacts = Omit<UpstreamRequest, keyof ResponseSink>;

/** A connection to an upstream that the test controls. */
interface OpenConnection {
  readonly connection: UpstreamConnection;
  /** Sends a request and returns its events: `begin`, `head 200`, `data ok`, `end`, `stale`, `switch`, or the code of an error. */
  send(call?: Partial<UpstreamRequest>, onEvent?: (event: string) => void): string[];
  /** The upstream's socket. */
  upstreamSocket(): Promise<Socket>;
  /** The bytes that the upstream received. */
  received(): string;
  reads(): number;
  /** How often the connection closed without an exchange. */
  closed(): number;
}

async function open({ responseTimeoutMs = 0, idleTimeoutMs = 0, isForTunnel = false } = {}): Promise<OpenConnection> {
  let received = '';
  let reads = 0;
  let closed = 0;
  const raw = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      reads += 1;
    });
  });
  const connection = new UpstreamConnection({
    dial: dialOf(raw),
    responseTimeoutMs,
    idleTimeoutMs,
    isForTunnel,
    onClosed: () => {
      closed += 1;
    },
  });
  closing.push(
    () => raw.close(),
    () => connection.destroy(),
  );
  return {
    connection,
    send(call, onEvent) {
      const events: string[] = [];
      connection.send({ ...GET, ...call, ...listener(events, onEvent) });
      return events;
    },
    upstreamSocket: async () => {
      await eventually('the connection arrives', () => raw.sockets.length === 1);
      return raw.sockets[0] as Socket;
    },
    received: () => received,
    reads: () => reads,
    closed: () => closed,
  };
}

const GET: RequestFacts = {
  method: 'GET',
  path: '/x',
  headers: ['Host', 'a'],
  isHandshake: false,
  length: undefined,
  body: null,
  hasResponseTimeout: true,
};
const POST = { method: 'POST', length: 3 } as const;

function dialOf({ url }: RawUpstream) {
  const upstream = load({ path: 'gateway.yaml', text: manifest(PUBLIC_ALL, { up: url }) }, worldOf()).plan
    ?.upstreams[0];
  const target = upstream?.endpoints[0];
  if (upstream === undefined || target === undefined) throw new Error('the manifest has no upstream');
  return createDial(target, upstream);
}

function listener(events: string[], onEvent: (event: string) => void = () => undefined): ResponseSink {
  const record = (event: string) => {
    events.push(event);
    onEvent(event);
  };
  return {
    onRequestStart: () => record('begin'),
    onStale: () => record('stale'),
    onHead: ({ status }) => record(`head ${status}`),
    onData: (bytes) => record(`data ${bytes.toString('latin1')}`),
    onReadComplete: () => undefined,
    onEnd: () => record('end'),
    onUpgrade: (_head, socket) => {
      closing.push(() => void socket.destroy());
      record('switch');
    },
    onError: (error) => record((error as NodeJS.ErrnoException).code ?? (error as Error).message),
  };
}

/** Returns a connection that has carried one exchange. */
async function openUsed(
  options?: Parameters<typeof open>[0],
  response = OK,
  call?: Partial<UpstreamRequest>,
): Promise<OpenConnection> {
  const opened = await open(options);
  const events = opened.send(call);
  const upstreamSocket = await opened.upstreamSocket();
  await eventually('the request arrives', () => opened.received().includes('\r\n\r\n'));
  upstreamSocket.write(response);
  await eventually('the exchange is over', () => events.includes('end'));
  return opened;
}

describe('UpstreamConnection between exchanges', () => {
  it('carries one exchange after the other', async () => {
    const { connection, send, upstreamSocket } = await openUsed();
    expect(connection.isIdle).toBe(true);
    const events = send();
    await eventually('the request is sent', () => events.includes('begin'));
    (await upstreamSocket()).write(OK);
    await eventually('the response is complete', () => events.includes('end'));
    expect(events).toEqual(['begin', 'head 200', 'data ok', 'end']);
  });

  it.each([
    ['ended', (socket: Socket) => void socket.end()],
    ['was reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['sent more bytes', (socket: Socket) => void socket.write(OK)],
  ])('sends no byte of the next request if the upstream %s before', async (_case, disturb) => {
    const { send, upstreamSocket, received } = await openUsed();
    const before = received();
    const socket = await upstreamSocket();
    // The kernel has the bytes by then, and the connection has not read them.
    disturb(socket);
    const events = send();
    await eventually('the exchange fails', () => events.length > 0);
    expect(events).toEqual(['stale']);
    expect(received()).toBe(before);
  });

  it.each([
    ['ends', (socket: Socket) => void socket.end()],
    ['sends more bytes', (socket: Socket) => void socket.write(OK)],
  ])('closes once if the upstream %s between exchanges', async (_case, disturb) => {
    const { connection, upstreamSocket, closed } = await openUsed();
    const socket = await upstreamSocket();
    disturb(socket);
    await eventually('the connection is closed', () => closed() > 0);
    await eventually('the upstream notices', () => socket.destroyed);
    expect([connection.isIdle, closed()]).toEqual([false, 1]);
  });

  it.each([
    ['timeout=1', false],
    ['timeout=2', false],
    ['timeout=30', true],
    ['max=3, timeout=30', true],
    ['nonsense', true],
  ])('follows the header Keep-Alive: %s', async (keepAlive, isIdle) => {
    const { connection } = await openUsed({}, OK.replace('\r\n', `\r\nKeep-Alive: ${keepAlive}\r\n`));
    expect([connection.isIdle, connection.isStale]).toEqual([isIdle, !isIdle]);
  });

  it.each([
    ['a response to HEAD that announces a body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'HEAD', false],
    ['a refused handshake', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 'GET', true],
    ['a response with Connection: close', OK.replace('\r\n', '\r\nConnection: close\r\n'), 'GET', false],
  ])('closes after %s', async (_case, response, method, isHandshake) => {
    const { connection, upstreamSocket } = await openUsed({ isForTunnel: isHandshake }, response, {
      method,
      isHandshake,
    });
    expect(connection.isIdle).toBe(false);
    const socket = await upstreamSocket();
    await eventually('the upstream notices', () => socket.destroyed);
  });

  it('closes after a response that arrived before the request was sent', async () => {
    const body = Buffer.alloc(20_000_000);
    const { connection, send, upstreamSocket } = await open();
    const events = send({ method: 'POST', length: body.length, body });
    const socket = await upstreamSocket();
    await once(socket, 'data');
    socket.pause();
    socket.write(OK);
    await eventually('the response is complete', () => events.includes('end'));
    expect(connection.isIdle).toBe(false);
  });
});

describe('UpstreamConnection with a streamed request body', () => {
  it('sends head and body in one write if the body is available', async () => {
    const { send, received, reads } = await open();
    send({ ...POST, body: new TestUpload('abc') });
    await eventually('the request arrives', () => received().endsWith('abc'));
    expect(reads()).toBe(1);
  });

  it('sends the head at once if the client is slow, and accepts a response before the body', async () => {
    const { send, upstreamSocket, received } = await open();
    const body = new TestUpload();
    const events = send({ ...POST, body });
    const socket = await upstreamSocket();
    await eventually('the head arrives', () => received().endsWith('\r\n\r\n'));
    socket.write(OK);
    await eventually('the response is complete', () => events.includes('end'));
    expect(events).toEqual(['begin', 'head 200', 'data ok', 'end']);
    expect(body.isOver).toBe(true);
  });

  it('sends nothing if the body fails before its first byte', async () => {
    const { send, upstreamSocket, received } = await open();
    const body = new TestUpload('abc');
    body.onBodyData = () => body.refuse();
    const events = send({ ...POST, body });
    const socket = await upstreamSocket();
    await eventually('the exchange fails', () => socket.destroyed);
    expect([events, received()]).toEqual([['begin', 'unfit'], '']);
  });

  it.each([
    ['longer', ['abcd']],
    ['shorter', ['a']],
  ])('never sends a complete body that is %s than announced', async (_case, chunks) => {
    const { send, upstreamSocket, received } = await open();
    const events = send({ ...POST, body: new TestUpload(...chunks) });
    const socket = await upstreamSocket();
    await eventually('the exchange fails', () => socket.destroyed);
    expect(events).toEqual(['begin', 'request_malformed']);
    expect(received()).not.toContain('abc');
  });
});

/** Longer than the time limits of the following tests. */
const LONGER_MS = 150;

describe('time limits of UpstreamConnection', () => {
  it('end the exchange once if no response begins', async () => {
    const { send, upstreamSocket } = await open({ responseTimeoutMs: 50 });
    const events = send();
    const socket = await upstreamSocket();
    await eventually('the exchange fails', () => socket.destroyed);
    expect(events).toEqual(['begin', 'response_timeout']);
  });

  it('do not run while the client is sending the body', async () => {
    const { send, upstreamSocket } = await open({ responseTimeoutMs: 50 });
    const body = new TestUpload();
    const events = send({ ...POST, body });
    await upstreamSocket();
    body.push('a');
    await pause(LONGER_MS);
    expect(events).toEqual(['begin']);
    body.push('bc');
    body.end();
    await eventually('the upstream is too slow', () => events.length > 1);
    expect(events).toEqual(['begin', 'response_timeout']);
  });

  it('end the exchange if the response stops, but not while it is paused', async () => {
    const { connection, send, upstreamSocket } = await open({ idleTimeoutMs: 50 });
    const events = send({}, (event) => {
      if (event === 'data a') connection.pause();
    });
    (await upstreamSocket()).write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na');
    await eventually('a chunk arrives', () => events.includes('data a'));
    await pause(LONGER_MS);
    (await upstreamSocket()).write('b');
    expect(events).toEqual(['begin', 'head 200', 'data a']);
    connection.resume();
    await eventually('the exchange fails', () => events.includes('idle_timeout'));
    expect(events).toEqual(['begin', 'head 200', 'data a', 'data b', 'idle_timeout']);
  });
});

describe('a sink of UpstreamConnection', () => {
  it.each(['head 200', 'data ok'])('receives no event after it throws at "%s"', async (at) => {
    const { connection, send, upstreamSocket } = await open();
    const events = send({}, (event) => {
      if (event === at) throw new Error('thrown');
    });
    const socket = await upstreamSocket();
    socket.write(OK);
    await eventually('the upstream notices', () => socket.destroyed);
    expect(events.slice(-2)).toEqual([at, 'thrown']);
    expect(connection.isIdle).toBe(false);
  });

  it('receives no data after it aborts the exchange', async () => {
    const { connection, send, upstreamSocket } = await open();
    const events = send({}, (event) => {
      if (event === 'head 200') connection.abort(new Error('enough'));
    });
    (await upstreamSocket()).write(OK);
    await eventually('the exchange is over', () => events.includes('enough'));
    expect(events).toEqual(['begin', 'head 200', 'enough']);
  });

  it('may abort a request before it is sent', async () => {
    const { connection, send, received } = await openUsed();
    const before = received();
    const events = send();
    connection.abort(new Error('enough'));
    await turns(10);
    expect([events, received()]).toEqual([['enough'], before]);
  });

  it('may abort a request before the connection is open', async () => {
    const { connection, send } = await open();
    const events = send();
    connection.abort(new Error('enough'));
    connection.onOpen();
    expect([events, connection.isIdle]).toEqual([['enough'], false]);
  });
});

it('reads on in the next turn of the event loop after 16 MB of a response, so that others need not wait', async () => {
  const [socket] = MemorySocket.pair();
  closing.push(() => void socket.destroy());
  const options = { responseTimeoutMs: 0, idleTimeoutMs: 0, isForTunnel: false, onClosed: () => undefined };
  const connection = new UpstreamConnection({ ...options, dial: () => socket });
  connection.send({ ...GET, ...listener([]) });
  connection.onOpen();
  connection.onBytes(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n'));
  for (let read = 0; read < 256; read += 1) {
    expect(socket.isPaused()).toBe(false);
    connection.onBytes(Buffer.alloc(65_536));
  }
  expect(socket.isPaused()).toBe(true);
  await turns(1);
  expect(socket.isPaused()).toBe(false);
});
