import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UpstreamConnection } from '../../src/engine/http1/upstream-connection.ts';
import type { ResponseSink } from '../../src/engine/http1/upstream-request.ts';
import { MemorySocket } from '../../src/prove/offline/memory-socket.ts';
import { TestUpload } from './test-upload.ts';

const FRAMED = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81';

const REQUEST = fc.constantFrom('GET', 'HEAD', 'POST', 'stream', 'handshake').map((kind) => ({ send: kind }));

/** The next action of either side. */
const STEP = fc.oneof(
  { weight: 3, arbitrary: REQUEST },
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
      .map(([text, cut, isComplete]) => ({ upstream: isComplete ? text : text.slice(0, cut % text.length) })),
  },
  { weight: 1, arbitrary: fc.constantFrom('end', 'reset').map((upstreamEnds) => ({ upstreamEnds })) },
  { weight: 2, arbitrary: fc.constantFrom('piece', 'end', 'fault').map((body) => ({ body })) },
  { weight: 1, arbitrary: fc.constantFrom('pause', 'resume', 'abort').map((control) => ({ control })) },
  { weight: 5, arbitrary: fc.constant({ turn: true }) },
);
type Step = Partial<{
  send: string;
  upstream: string;
  upstreamEnds: string;
  body: string;
  control: string;
  turn: boolean;
}>;

/** The events of one exchange. The last event ends it. */
interface ExchangeEvents {
  readonly events: string[];
  isOver: boolean;
  /** `null` unless the body is streamed. */
  readonly body: TestUpload | null;
}

class Run {
  readonly all: ExchangeEvents[] = [];
  closed = 0;
  readonly #near: MemorySocket;
  readonly #upstream: MemorySocket;
  readonly #connection: UpstreamConnection;
  #body: TestUpload | undefined;

  constructor() {
    const [near, upstream] = MemorySocket.pair();
    this.#near = near;
    this.#upstream = upstream;
    upstream.on('error', () => undefined).resume();
    this.#connection = new UpstreamConnection({
      dial: (handler) => {
        setImmediate(() => handler.onOpen());
        return near.on('data', (bytes: Buffer) => handler.onBytes(bytes));
      },
      responseTimeoutMs: 0,
      idleTimeoutMs: 0,
      isForTunnel: true,
      onClosed: () => {
        this.closed += 1;
      },
    });
  }

  get isIdle(): boolean {
    return this.#connection.isIdle;
  }

  get isClosed(): boolean {
    return this.#near.destroyed;
  }

  async perform({ send, upstream, upstreamEnds, body, control, turn: isTurn }: Step): Promise<void> {
    if (send !== undefined && (this.all.length === 0 || this.isIdle)) this.#send(send);
    if (upstream !== undefined && this.#upstream.writable) this.#upstream.write(Buffer.from(upstream, 'latin1'));
    if (upstreamEnds === 'end') this.#upstream.end();
    if (upstreamEnds === 'reset') this.#upstream.resetAndDestroy();
    if (body === 'piece') this.#body?.push('a');
    if (body === 'end') this.#body?.end();
    if (body === 'fault') this.#body?.refuse();
    if (control === 'pause') this.#connection.pause();
    if (control === 'resume') this.#connection.resume();
    if (control === 'abort') this.#abort();
    if (isTurn) await turn();
  }

  /** Closes the upstream, and runs all deferred tasks. */
  async finish(): Promise<void> {
    this.#connection.resume();
    this.#upstream.destroy();
    for (let index = 0; index < 5; index += 1) await turn();
  }

  #abort(): void {
    const last = this.all.at(-1);
    if (last?.isOver !== false) return;
    this.#connection.abort(new Error('enough'));
    expect(last.events.at(-1)).toBe('error');
  }

  #send(kind: string): void {
    const body = kind === 'stream' ? new TestUpload() : null;
    this.#body = body ?? undefined;
    const exchange: ExchangeEvents = { events: [], isOver: false, body };
    this.all.push(exchange);
    this.#connection.send({
      method: kind === 'stream' ? 'POST' : kind === 'handshake' ? 'GET' : kind,
      path: '/',
      headers: ['Host', 'a'],
      isHandshake: kind === 'handshake',
      length: kind === 'stream' ? 'chunked' : kind === 'POST' ? 3 : undefined,
      body: kind === 'POST' ? Buffer.from('abc') : body,
      hasResponseTimeout: true,
      ...sinkOf(exchange),
    });
  }
}

function sinkOf(exchange: ExchangeEvents): ResponseSink {
  const record = (event: string, isLast = false) => {
    expect(exchange.isOver).toBe(false);
    exchange.events.push(event);
    exchange.isOver = isLast;
  };
  return {
    onRequestStart: () => record('begin'),
    onStale: () => record('stale', true),
    onHead: () => record('head'),
    onData: () => record('data'),
    onReadComplete: () => record('waiting'),
    onEnd: () => record('end', true),
    onUpgrade: (_head, socket) => {
      record('switch', true);
      socket.on('error', () => undefined).destroy();
    },
    onError: () => record('error', true),
  };
}

it('each exchange ends once, and a connection is idle only after a complete response, in any order of actions', async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(REQUEST, fc.array(STEP, { maxLength: 30 }), async (first, steps) => {
      const run = new Run();
      for (const step of [first, ...steps]) {
        await run.perform(step);
        if (run.isIdle) expect(run.all.at(-1)?.events.slice(-1)).toEqual(['end']);
      }
      await run.finish();
      for (const { events, isOver, body } of run.all) {
        expect(isOver).toBe(true);
        if (events.includes('begin')) expect(body?.isOver).not.toBe(false);
        outcomes.add(events.at(-1) as string);
      }
      expect([run.isIdle, run.isClosed]).toEqual([false, true]);
      expect(run.closed).toBeLessThanOrEqual(1);
    }),
    { numRuns: 2_000 },
  );
  expect([...outcomes].sort()).toEqual(['end', 'error', 'stale', 'switch']);
});
