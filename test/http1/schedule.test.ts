import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ResponseSink } from '../../src/http1/response-sink.ts';
import { UpstreamConnection } from '../../src/http1/upstream-connection.ts';
import type { UpstreamRequest } from '../../src/http1/upstream-request.ts';
import { MemorySocket } from '../../src/offline/memory-socket.ts';

const FRAMED = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81';

const CALL = fc.constantFrom('GET', 'HEAD', 'POST', 'stream', 'handshake').map((call) => ({ call }));

/** What either side may do next, in any order. */
const STEP = fc.oneof(
  { weight: 3, arbitrary: CALL },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          FRAMED,
          FRAMED,
          CHUNKED,
          `HTTP/1.1 103 X\r\n\r\n${FRAMED}`,
          'HTTP/1.0 200 OK\r\n\r\nok',
          SWITCH,
          'x',
        ),
        fc.nat(100),
        fc.boolean(),
      )
      .map(([text, cut, isWhole]) => ({ far: isWhole ? text : text.slice(0, cut % text.length) })),
  },
  { weight: 1, arbitrary: fc.constantFrom('end', 'reset').map((farEnds) => ({ farEnds })) },
  { weight: 2, arbitrary: fc.constantFrom('piece', 'end', 'fault').map((body) => ({ body })) },
  { weight: 1, arbitrary: fc.constantFrom('pause', 'resume', 'abort').map((control) => ({ control })) },
  { weight: 5, arbitrary: fc.constant({ turn: true }) },
);
type Step = Partial<{ call: string; far: string; farEnds: string; body: string; control: string; turn: boolean }>;

/** What was told of an exchange: it ends once, and nothing is told behind that. */
interface Told {
  readonly news: string[];
  isOver: boolean;
  /** Where it is streamed. */
  readonly body: Readable | null;
}

class Run {
  readonly all: Told[] = [];
  closed = 0;
  readonly #near: MemorySocket;
  readonly #far: MemorySocket;
  readonly #connection: UpstreamConnection;
  #body: Readable | undefined;

  constructor() {
    const [near, far] = MemorySocket.pair();
    this.#near = near;
    this.#far = far;
    far.on('error', () => undefined).resume();
    this.#connection = new UpstreamConnection({
      dial: (user) => {
        setImmediate(() => user.onOpen());
        return near.on('data', (bytes: Buffer) => user.onBytes(bytes));
      },
      responseTimeoutMs: 0,
      idleTimeoutMs: 0,
      isForTunnel: true,
      onClosed: () => {
        this.closed += 1;
      },
    });
  }

  get isFree(): boolean {
    return this.#connection.isIdle;
  }

  get isGone(): boolean {
    return this.#near.destroyed;
  }

  async take({ call, far, farEnds, body, control, turn: isTurn }: Step): Promise<void> {
    if (call !== undefined && (this.all.length === 0 || this.isFree)) this.#send(call);
    if (far !== undefined && this.#far.writable) this.#far.write(Buffer.from(far, 'latin1'));
    if (farEnds === 'end') this.#far.end();
    if (farEnds === 'reset') this.#far.resetAndDestroy();
    if (body === 'piece') this.#body?.push('a');
    if (body === 'end') this.#body?.push(null);
    if (body === 'fault') this.#body?.destroy(new Error('unfit'));
    if (control === 'pause') this.#connection.pause();
    if (control === 'resume') this.#connection.resume();
    if (control === 'abort') this.#abort();
    if (isTurn) await turn();
  }

  /** The other side is gone, and all that waits for a turn has had it. */
  async finish(): Promise<void> {
    this.#connection.resume();
    this.#far.destroy();
    for (let index = 0; index < 5; index += 1) await turn();
  }

  #abort(): void {
    const last = this.all.at(-1);
    if (last?.isOver !== false) return;
    this.#connection.abort(new Error('enough'));
    expect(last.news.at(-1)).toBe('error');
  }

  #send(kind: string): void {
    const body = kind === 'stream' ? new Readable({ read: () => undefined }) : null;
    body?.on('error', () => undefined);
    this.#body = body ?? undefined;
    const call: UpstreamRequest = {
      method: kind === 'stream' ? 'POST' : kind === 'handshake' ? 'GET' : kind,
      path: '/',
      headers: ['Host', 'a'],
      isHandshake: kind === 'handshake',
      length: kind === 'stream' ? 'chunked' : kind === 'POST' ? 3 : undefined,
      body: kind === 'POST' ? Buffer.from('abc') : body,
      hasResponseTimeout: true,
    };
    const told: Told = { news: [], isOver: false, body };
    this.all.push(told);
    this.#connection.send(call, listener(told));
  }
}

function listener(told: Told): ResponseSink {
  const tell = (news: string, isLast = false) => {
    expect(told.isOver).toBe(false);
    told.news.push(news);
    told.isOver = isLast;
  };
  return {
    onRequestStart: () => tell('begin'),
    onStale: () => tell('stale', true),
    onHead: () => tell('head'),
    onData: () => tell('data'),
    onReadComplete: () => tell('waiting'),
    onEnd: () => tell('end', true),
    onUpgrade: (_head, socket) => {
      tell('switch', true);
      socket.on('error', () => undefined).destroy();
    },
    onError: () => tell('error', true),
  };
}

it('whatever both sides do, and in whatever order, each exchange ends once, and a connection is free behind whole answers only', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(CALL, fc.array(STEP, { maxLength: 30 }), async (first, steps) => {
      const run = new Run();
      for (const step of [first, ...steps]) {
        await run.take(step);
        if (run.isFree) expect(run.all.at(-1)?.news.slice(-1)).toEqual(['end']);
      }
      await run.finish();
      for (const { news, isOver, body } of run.all) {
        expect(isOver).toBe(true);
        if (news.includes('begin')) expect(body?.destroyed).not.toBe(false);
        seen.add(news.at(-1) as string);
      }
      expect([run.isFree, run.isGone]).toEqual([false, true]);
      expect(run.closed).toBeLessThanOrEqual(1);
    }),
    { numRuns: 2_000 },
  );
  expect([...seen].sort()).toEqual(['end', 'error', 'stale', 'switch']);
});
