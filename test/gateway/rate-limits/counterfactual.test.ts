import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { keepAliveHead, Wire } from '../../support/raw.ts';
import { runs } from '../../support/runs.ts';
import { eventually } from '../../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../../support/upstream.ts';
import { ExactGcra } from './gcra.ts';

const INTERVAL_MS = 1_000;
const clock = { ms: 0 };
/** The connections of requests without a response yet, in the order of the requests. */
let waiting: Socket[] = [];
let upstream: WireUpstream;
let gateway: TestGateway;

const textOf = (id: string, burst: number) =>
  manifest(
    `  - { id: guess, method: POST, path: /guess, upstream: up, access: public, rateLimits: [${id}] }
rateLimits:
  ${id}: { key: route, allow: 60 per 1m, burst: ${burst}, count: failures }
`,
    { up: upstream.url, timeouts: '{ response: 60s }' },
  );

beforeAll(async () => {
  upstream = await startWireUpstream(() => (socket) => void waiting.push(socket));
  gateway = await startGateway(textOf('first', 1), {}, {}, undefined, () => clock.ms);
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Guess {
  readonly wire: Wire;
  readonly upstream: Socket;
  readonly at: number;
}

const POST = keepAliveHead('POST /guess HTTP/1.1', 'Content-Length: 1', 'Connection: close');
const respond = (status: string) => (guess: Guess) =>
  void guess.upstream.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);

/** The possible ends of a guess, and whether it may have been a failure for the client. */
const ENDS: Readonly<Record<string, { readonly isFailure: boolean; readonly end: (guess: Guess) => void }>> = {
  success: { isFailure: false, end: respond('200 OK') },
  'an error of the upstream': { isFailure: false, end: respond('500 Error') },
  failure: { isFailure: true, end: respond('401 Unauthorized') },
  'a failure after an interim response': {
    isFailure: true,
    end: (guess) => {
      guess.upstream.write('HTTP/1.1 102 Processing\r\n\r\n');
      respond('403 Forbidden')(guess);
    },
  },
  'a lost upstream': { isFailure: true, end: (guess) => guess.upstream.resetAndDestroy() },
  'a lost client': { isFailure: true, end: (guess) => guess.wire.end() },
  'a truncated head': { isFailure: true, end: (guess) => guess.upstream.end('HTTP/1.1 200') },
};

/** Sends a guess. Returns `undefined` if the gateway refuses it. */
async function send(): Promise<Guess | undefined> {
  const before = waiting.length;
  const wire = await Wire.open(gateway.port);
  wire.write(`${POST}x`);
  await eventually('the guess is sent or refused', () => waiting.length > before || wire.rest.includes('\r\n\r\n'));
  const socket = waiting[before];
  if (socket !== undefined) return { wire, upstream: socket, at: clock.ms };
  expect((await wire.response('POST')).status).toBe(429);
  wire.end();
  return undefined;
}

async function finish(guess: Guess, end: keyof typeof ENDS): Promise<void> {
  const before = gateway.lines.length;
  ENDS[end]?.end(guess);
  await eventually('the exchange ends', () => gateway.lines.length > before);
  guess.wire.end();
}

it('lets no more failures reach the upstream than without all other requests, in any mix of ends', async () => {
  const step = fc.record({
    pauseMs: fc.constantFrom(0, 0, 50, 200, 500),
    // A step sends a guess or ends one. Successes are more likely, because only they are taken back.
    end: fc.constantFrom(...Array(10).fill(undefined), ...Object.keys(ENDS), 'success', 'success', 'success'),
    pick: fc.nat(),
  });
  let run = 0;
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 6 }),
    fc.array(step, { minLength: 10, maxLength: 60 }),
    async (burst, steps) => {
      run += 1;
      waiting = [];
      gateway.swap(textOf(`run-${run}`, burst));
      const pending: Guess[] = [];
      const failures: number[] = [];
      for (const { pauseMs, end, pick } of steps) {
        clock.ms += pauseMs;
        if (end === undefined) {
          const guess = await send();
          if (guess !== undefined) pending.push(guess);
          continue;
        }
        const [guess] = pending.splice(pick % Math.max(pending.length, 1), 1);
        if (guess === undefined) continue;
        await finish(guess, end);
        if (ENDS[end]?.isFailure === true) failures.push(guess.at);
      }
      for (const guess of pending) await finish(guess, 'failure');
      const sent = [...failures, ...pending.map(({ at }) => at)].toSorted((a, b) => a - b);
      const exact = new ExactGcra(1, INTERVAL_MS, burst);
      for (const at of sent) expect(exact.count(at).waitMs).toBe(0);
    },
  );
  await fc.assert(property, { numRuns: runs(80) });
});
