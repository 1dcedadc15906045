import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { manifest } from '../../support/gateway.ts';
import { head, openSocket, sendRequest } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../../support/upstream.ts';
import { planOf, startWorkerGateways, type WorkerGateways } from '../../support/worker-gateways.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const WRONG = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';

let upstream: WireUpstream;
let gateways: WorkerGateways;
/** The response of the upstream; `undefined` if requests wait. */
let response: string | undefined;
let waiting: Socket[] = [];

beforeAll(async () => {
  upstream = await startWireUpstream(() => response ?? ((socket) => void waiting.push(socket)));
});

afterAll(async () => {
  await upstream.close();
});

beforeEach(() => {
  waiting = [];
  response = OK;
});

function manifestOf(limits: string): string {
  const ids = [...limits.matchAll(/(\w+):(?= \{ key)/g)].map(([, id]) => id).join(', ');
  const routes = `  - { id: all, method: GET, path: /**, upstream: up, access: public, rateLimits: [${ids}] }
rateLimits:
  ${limits}
`;
  return manifest(routes, { up: upstream.url });
}

const request = (account: string) => head('GET /x HTTP/1.1', `X-Account: ${account}`);
const portOf = (worker: number) => gateways.workers[worker]?.port as number;
const countsOf = (worker: number, limit: string) => gateways.workers[worker]?.gateway.rateLimiter.counts.get(limit);

async function statusesOf(count: number, account = 'a'): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1)
    statuses.push((await sendRequest(portOf(index % gateways.workers.length), request(account))).status);
  return statuses;
}

it('counts the requests to all workers by one limit', async () => {
  gateways = await startWorkerGateways(manifestOf('client: { key: client, allow: 5 per 1h }'), { count: 2 });
  expect(await statusesOf(12)).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
  for (const worker of [0, 1]) expect(countsOf(worker, 'client')).toMatchObject({ allowed: 5, refused: 7 });
  const [table] = gateways.workers[0]?.gateway.rateLimiter.local.tables.values() ?? [];
  expect(table?.size).toBe(1);
  await gateways.close();
});

it('lets exactly as many parallel guesses through all workers as the limit, and takes successes back', async () => {
  const limits = 'account: { key: { header: X-Account }, missing: refuse, allow: 6 per 24h, count: failures }';
  gateways = await startWorkerGateways(manifestOf(limits), { count: 3 });
  expect(new Set(await statusesOf(30))).toEqual(new Set([200]));
  response = WRONG;
  const before = upstream.messages.length;
  const guesses = Array.from({ length: 60 }, async (_, index) => sendRequest(portOf(index % 3), request('a')));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect([statuses.filter((status) => status === 401).length, upstream.messages.length - before]).toEqual([6, 6]);
  expect(countsOf(2, 'account')).toMatchObject({ allowed: 36, released: 30, refused: 54 });
  await gateways.close();
});

it('moves the pending requests of other workers ahead when it takes a request back', async () => {
  const limits =
    'account: { key: { header: X-Account }, missing: refuse, allow: 1 per 24h, burst: 3, count: failures }';
  gateways = await startWorkerGateways(manifestOf(limits), { count: 2 });
  response = undefined;
  const pending: Promise<{ readonly status: number }>[] = [];
  for (const worker of [0, 1, 0]) {
    pending.push(sendRequest(portOf(worker), request('a')));
    await eventually('the request is sent', () => waiting.length === pending.length);
  }
  // In the order of the requests, so each release has requests of another worker behind it.
  for (const [index, socket] of waiting.entries()) {
    socket.write(OK);
    expect((await pending[index])?.status).toBe(200);
  }
  response = WRONG;
  expect(await statusesOf(5)).toEqual([401, 401, 401, 429, 429]);
  await gateways.close();
});

it('keeps the requests of a worker that has ended counted, and what the worker has counted before', async () => {
  const limits = 'account: { key: { header: X-Account }, missing: refuse, allow: 4 per 24h, count: failures }';
  gateways = await startWorkerGateways(manifestOf(limits), { count: 2 });
  response = undefined;
  const survivor = sendRequest(portOf(0), request('a'));
  await eventually('the request is sent', () => waiting.length === 1);
  const lost = await Promise.all([0, 1].map(() => openSocket(portOf(1))));
  for (const socket of lost) socket.write(request('a'));
  await eventually('the requests are sent', () => waiting.length === 3);
  gateways.end(1);
  gateways.workers[0]?.gateway.forgetWorker(1);
  await gateways.start(1);
  waiting[0]?.write(OK);
  expect((await survivor).status).toBe(200);
  response = WRONG;
  expect(await statusesOf(4)).toEqual([401, 401, 429, 429]);
  expect(countsOf(0, 'account')).toMatchObject({ allowed: 5, refused: 2 });
  for (const socket of lost) socket.destroy();
  await gateways.close();
});

it('keeps the counters of all workers over a reload, also while only some of them have activated it', async () => {
  const account = 'account: { key: { header: X-Account }, missing: refuse, allow: 4 per 24h }';
  gateways = await startWorkerGateways(manifestOf(account), { count: 2 });
  expect(await statusesOf(1)).toEqual([200]);
  const plan = planOf(manifestOf(`${account}\n  other: { key: client, allow: 3 per 1h }`));
  const [first, second] = gateways.workers;
  await first?.gateway.prepare(plan);
  first?.gateway.activate(plan);
  expect(await statusesOf(2)).toEqual([200, 200]);
  second?.gateway.activate(plan);
  expect(await statusesOf(4)).toEqual([200, 429, 429, 429]);
  expect(countsOf(1, 'other')).toMatchObject({ allowed: 5, released: 3, refused: 0 });
  // A limit that a reload removes starts again.
  for (const [limits, statuses] of [
    ['other: { key: client, allow: 3 per 1h }', [200, 429, 429]],
    [account, [200, 200, 200, 200, 429]],
  ] as const) {
    for (const { gateway } of gateways.workers) gateway.activate(planOf(manifestOf(limits)));
    expect(await statusesOf(statuses.length)).toEqual(statuses);
  }
  await gateways.close();
});
