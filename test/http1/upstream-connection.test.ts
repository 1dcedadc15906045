import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createDial } from '../../src/http1/dial.ts';
import type { ResponseSink } from '../../src/http1/response-sink.ts';
import { UpstreamConnection } from '../../src/http1/upstream-connection.ts';
import type { UpstreamRequest } from '../../src/http1/upstream-request.ts';
import { load } from '../../src/load.ts';
import { manifest, PUBLIC_ALL, worldOf } from '../support/gateway.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A connection to an upstream whose side is the test's own. */
interface Opened {
  readonly connection: UpstreamConnection;
  /** Sends a request and tells of it: `begin`, `head 200`, `data ok`, `end`, `stale`, `switch`, the code of an error. */
  send(call?: Partial<UpstreamRequest>, hear?: (news: string) => void): string[];
  /** The upstream's side of it, and what came there. */
  far(): Promise<Socket>;
  came(): string;
  /** In how many pieces. */
  pieces(): number;
  /** How often it was closed while nobody used it. */
  closed(): number;
}

async function open({ responseTimeoutMs = 0, idleTimeoutMs = 0, isForTunnel = false } = {}): Promise<Opened> {
  let came = '';
  let pieces = 0;
  let closed = 0;
  const raw = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      came += bytes.toString('latin1');
      pieces += 1;
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
    send(call, hear) {
      const told: string[] = [];
      connection.send({ ...GET, ...call }, listener(told, hear));
      return told;
    },
    far: async () => {
      await eventually('the connection is there', () => raw.sockets.length === 1);
      return raw.sockets[0] as Socket;
    },
    came: () => came,
    pieces: () => pieces,
    closed: () => closed,
  };
}

const GET: UpstreamRequest = {
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

function listener(told: string[], hear: (news: string) => void = () => undefined): ResponseSink {
  const tell = (news: string) => {
    told.push(news);
    hear(news);
  };
  return {
    onRequestStart: () => tell('begin'),
    onStale: () => tell('stale'),
    onHead: ({ status }) => tell(`head ${status}`),
    onData: (bytes) => tell(`data ${bytes.toString('latin1')}`),
    onReadComplete: () => undefined,
    onEnd: () => tell('end'),
    onUpgrade: (_head, socket) => {
      closing.push(() => void socket.destroy());
      tell('switch');
    },
    onError: (error) => tell((error as Error & { code?: string }).code ?? error.message),
  };
}

/** An exchange that goes well, and what it leaves behind. */
async function used(
  options?: Parameters<typeof open>[0],
  answer = OK,
  call?: Partial<UpstreamRequest>,
): Promise<Opened> {
  const opened = await open(options);
  const told = opened.send(call);
  const far = await opened.far();
  await eventually('the request is there', () => opened.came().includes('\r\n\r\n'));
  far.write(answer);
  await eventually('it is over', () => told.includes('end'));
  return opened;
}

describe('a connection that is kept', () => {
  it('carries one exchange after the other', async () => {
    const { connection, send, far } = await used();
    expect(connection.isIdle).toBe(true);
    const told = send();
    await eventually('it is sent', () => told.includes('begin'));
    (await far()).write(OK);
    await eventually('it is answered', () => told.includes('end'));
    expect(told).toEqual(['begin', 'head 200', 'data ok', 'end']);
  });

  it.each([
    ['has ended', (socket: Socket) => void socket.end()],
    ['was reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['has said more', (socket: Socket) => void socket.write(OK)],
  ])('and %s before a byte of the next request went out gets none of it', async (_what, spoil) => {
    const { send, far, came } = await used();
    const before = came();
    const socket = await far();
    // The kernel has it when the turn comes, and nobody has read it yet.
    spoil(socket);
    const told = send();
    await eventually('it is given up', () => told.length > 0);
    expect(told).toEqual(['stale']);
    expect(came()).toBe(before);
  });

  it.each([
    ['ends', (socket: Socket) => void socket.end()],
    ['says more', (socket: Socket) => void socket.write(OK)],
  ])('and %s while nobody uses it is closed, once', async (_what, spoil) => {
    const { connection, far, closed } = await used();
    const socket = await far();
    spoil(socket);
    await eventually('it is closed', () => closed() > 0);
    await eventually('the other side sees it', () => socket.destroyed);
    expect([connection.isIdle, closed()]).toEqual([false, 1]);
  });

  it.each([
    ['timeout=1', false],
    ['timeout=2', false],
    ['timeout=30', true],
    ['max=3, timeout=30', true],
    ['nonsense', true],
  ])('where the other side says Keep-Alive: %s', async (keepAlive, isFree) => {
    const { connection } = await used({}, OK.replace('\r\n', `\r\nKeep-Alive: ${keepAlive}\r\n`));
    expect([connection.isIdle, connection.isStale]).toEqual([isFree, !isFree]);
  });

  it.each([
    ['an answer to HEAD that states a body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'HEAD', false],
    ['a refused handshake', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 'GET', true],
    ['an answer that closes', OK.replace('\r\n', '\r\nConnection: close\r\n'), 'GET', false],
  ])('is none behind %s', async (_what, answer, method, isHandshake) => {
    const { connection, far } = await used({ isForTunnel: isHandshake }, answer, { method, isHandshake });
    expect(connection.isIdle).toBe(false);
    const socket = await far();
    await eventually('the other side sees it', () => socket.destroyed);
  });

  it('is none behind an answer that came before the whole request had left', async () => {
    const body = Buffer.alloc(20_000_000);
    const { connection, send, far } = await open();
    const told = send({ method: 'POST', length: body.length, body });
    const socket = await far();
    await once(socket, 'data');
    socket.pause();
    socket.write(OK);
    await eventually('it is answered', () => told.includes('end'));
    expect(connection.isIdle).toBe(false);
  });
});

describe('a body that is streamed', () => {
  it('leaves in one write with the head where it is there', async () => {
    const { send, came, pieces } = await open();
    send({ ...POST, body: Readable.from([Buffer.from('abc')]) });
    await eventually('it is there', () => came().endsWith('abc'));
    expect(pieces()).toBe(1);
  });

  it('does not keep the head back where its client is slow, and may be answered before it comes', async () => {
    const { send, far, came } = await open();
    const body = new Readable({ read: () => undefined });
    const told = send({ ...POST, body });
    const socket = await far();
    await eventually('the head is there', () => came().endsWith('\r\n\r\n'));
    socket.write(OK);
    await eventually('it is answered', () => told.includes('end'));
    expect(told).toEqual(['begin', 'head 200', 'data ok', 'end']);
    expect(body.destroyed).toBe(true);
  });

  it('that fails before its first byte sends nothing', async () => {
    const { send, far, came } = await open();
    const body = new Readable({ read: () => void body.destroy(new Error('unfit')) });
    const told = send({ ...POST, body });
    const socket = await far();
    await eventually('it is given up', () => socket.destroyed);
    expect([told, came()]).toEqual([['begin', 'unfit'], '']);
  });

  it.each([
    ['more', ['abcd']],
    ['less', ['a']],
  ])('and is %s than was said is never whole', async (_what, pieces) => {
    const { send, far, came } = await open();
    const told = send({ ...POST, body: Readable.from(pieces.map((piece) => Buffer.from(piece))) });
    const socket = await far();
    await eventually('it is given up', () => socket.destroyed);
    expect(told).toEqual(['begin', 'request_malformed']);
    expect(came()).not.toContain('abc');
  });
});

describe('the time', () => {
  it('for an answer to begin is over: the exchange ends, once', async () => {
    const { send, far } = await open({ responseTimeoutMs: 50 });
    const told = send();
    const socket = await far();
    await eventually('it is given up', () => socket.destroyed);
    expect(told).toEqual(['begin', 'response_timeout']);
  });

  it('for an answer to begin is not over while the client has the body', async () => {
    const { send, far } = await open({ responseTimeoutMs: 50 });
    const body = new Readable({ read: () => undefined });
    const told = send({ ...POST, body });
    await far();
    body.push('a');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(told).toEqual(['begin']);
    body.push('bc');
    body.push(null);
    await eventually('now it is the upstream', () => told.length > 1);
    expect(told).toEqual(['begin', 'response_timeout']);
  });

  it('between two pieces is over, but not while nothing is read', async () => {
    const { connection, send, far } = await open({ idleTimeoutMs: 50 });
    const told = send({}, (news) => {
      if (news === 'data a') connection.pause();
    });
    (await far()).write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na');
    await eventually('a piece came', () => told.includes('data a'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    (await far()).write('b');
    expect(told).toEqual(['begin', 'head 200', 'data a']);
    connection.resume();
    await eventually('it is given up', () => told.includes('idle_timeout'));
    expect(told).toEqual(['begin', 'head 200', 'data a', 'data b', 'idle_timeout']);
  });
});

describe('who hears of an exchange', () => {
  it.each(['head 200', 'data ok'])('and throws at "%s" hears that, and no more', async (at) => {
    const { connection, send, far } = await open();
    const told = send({}, (news) => {
      if (news === at) throw new Error('thrown');
    });
    const socket = await far();
    socket.write(OK);
    await eventually('the other side sees it', () => socket.destroyed);
    expect(told.slice(-2)).toEqual([at, 'thrown']);
    expect(connection.isIdle).toBe(false);
  });

  it('and ends it in the middle of a piece hears no more of that piece', async () => {
    const { connection, send, far } = await open();
    const told = send({}, (news) => {
      if (news === 'head 200') connection.abort(new Error('enough'));
    });
    (await far()).write(OK);
    await eventually('it is over', () => told.includes('enough'));
    expect(told).toEqual(['begin', 'head 200', 'enough']);
  });

  it('may end it before its turn came', async () => {
    const { connection, send, came } = await used();
    const before = came();
    const told = send();
    connection.abort(new Error('enough'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([told, came()]).toEqual([['enough'], before]);
  });

  it('may end it before the connection is open, and what opens then is not used', async () => {
    const { connection, send } = await open();
    const told = send();
    connection.abort(new Error('enough'));
    connection.onOpen();
    expect([told, connection.isIdle]).toEqual([['enough'], false]);
  });
});
