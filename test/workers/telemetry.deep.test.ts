import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestEvent } from '../../src/process/telemetry/request-event.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';
import { startTelemetrySite, type TelemetrySite } from '../support/telemetry-site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const ONE = '  - { id: one, method: GET, path: /one, upstream: up, access: public }\n';
const TWO = '  - { id: two, method: GET, path: /two, upstream: up, access: public }\n';

let upstream: Upstream;
let site: TelemetrySite;

beforeAll(async () => {
  upstream = await startUpstream();
  site = await startTelemetrySite(2, upstream.url, ONE + TWO);
});
afterAll(async () => {
  await site.close();
  await upstream.close();
});

function countOf(id: string): number {
  const sums = new Map(site.gateway.metrics.routes).get(id);
  return sums?.requests.reduce((sum, { count }) => sum + count, 0) ?? 0;
}

async function expectCount(id: string, count: number): Promise<void> {
  await eventually('all requests are counted', () => countOf(id) >= count);
  expect(countOf(id)).toBe(count);
}

async function linesOf(path: string, count: number): Promise<Record<string, unknown>[]> {
  const read = () =>
    site
      .logText()
      .split('\n')
      // The text behind the last line break is a line that is being written.
      .slice(0, -1)
      .filter((line) => line.includes(`"path":"${path}"`))
      .map((line) => JSON.parse(line));
  await eventually('all lines are written', () => read().length >= count);
  return read();
}

/** Ends the thread of worker 1 and waits for its replacement. */
async function replaceWorker(): Promise<void> {
  const { failures } = site.group.status;
  const thread = site.threads.findLast(({ threadName }) => threadName === 'worker 1');
  if (thread === undefined) throw new Error('there is no worker 1');
  const ended = once(thread, 'exit');
  void thread.terminate();
  await ended;
  await eventually('the worker is replaced', () => {
    const { failures: now, serving } = site.group.status;
    return now > failures && serving === 2;
  });
}

describe('the main thread of two workers', () => {
  it('has the metrics and the log lines of all requests', async () => {
    await site.send(300, '/one');
    await expectCount('one', 300);
    const { value } = await scrape(site.adminUrl);
    expect(value('requests_total', { route: 'one' })).toBe(300);
    expect(value('request_duration_seconds_count', { route: 'one' })).toBe(300);
    expect(value('request_duration_seconds_bucket', { route: 'one', le: '+Inf' })).toBe(300);
    const lines = await linesOf('/one', 300);
    expect(lines.length).toBe(300);
    expect(new Set(lines.map(({ worker }) => worker))).toEqual(new Set([0, 1]));
    expect(new Set(lines.map(({ id }) => id)).size).toBe(300);
  });

  it('has the refusals of all workers', async () => {
    await site.send(60, '/unknown');
    expect(site.gateway.metrics.refusals.get('route_unknown')).toBe(60);
    const workers = new Set((await linesOf('/unknown', 60)).map(({ worker }) => worker));
    expect(workers.size).toBe(2);
  });

  it('publishes the requests of all workers while somebody listens', async () => {
    const events: RequestEvent[] = [];
    let skipped = 0;
    const onSkipped = (count: number) => {
      skipped += count;
    };
    const stop = site.group.telemetry.subscribe({ onEvent: (event) => void events.push(event), onSkipped });
    // The worker publishes from the moment at which it learns of the listener. Its events arrive in batches. Wait for the last one.
    await eventually('both workers publish', async () => {
      const total = events.length;
      await site.send(20, '/two');
      const ids = new Set(events.slice(total).map(({ id }) => id));
      const logged = (await linesOf('/two', countOf('two'))).filter(({ id }) => ids.has(String(id)));
      return ids.size === 20 && new Set(logged.map(({ worker }) => worker)).size === 2;
    });
    const before = events.length;
    const sent = countOf('two');
    await site.send(100, '/two');
    await eventually('all events arrive', () => events.length + skipped - before >= 100);
    await expectCount('two', sent + 100);
    expect([events.length - before, skipped]).toEqual([100, 0]);
    stop();
    expect(site.gateway.subscribers).toBe(0);
  });

  it('streams decisions of all workers through the filter', async () => {
    const controller = new AbortController();
    const { body } = await fetch(`${site.adminUrl}/decisions?filter=route_unknown`, { signal: controller.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const seen = async () => {
      const ids = new Set([...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id));
      const total = site.gateway.metrics.refusals.get('route_unknown') ?? 0;
      const lines = await linesOf('/unknown', total);
      return new Set(lines.filter(({ id }) => ids.has(String(id))).map(({ worker }) => worker)).size;
    };
    await eventually('decisions of both workers', async () => {
      await site.send(10, '/unknown');
      await site.send(5, '/two');
      return (await seen()) === 2;
    });
    expect(text).not.toContain('"route":"two"');
    controller.abort();
    await reading;
  });

  it('keeps the counts of a worker that ends, and counts its successor', async () => {
    await site.send(50, '/one');
    const before = countOf('one');
    await replaceWorker();
    expect(countOf('one')).toBe(before);
    expect(site.gateway.metrics.inFlight).toBe(0);
    await site.send(50, '/one');
    await expectCount('one', before + 50);
    const { value } = await scrape(site.adminUrl);
    expect([value('workers'), value('workers_wanted'), value('worker_failures_total')]).toEqual([2, 2, 1]);
    const status = await (await fetch(`${site.adminUrl}/status`)).json();
    expect(status).toMatchObject({
      status: 'degraded',
      reasons: [expect.stringContaining('a worker ended unexpectedly in the last minute')],
      workers: { count: 2, serving: 2, failures: 1, last_failure: { reason: 'the thread ended with exit code 1' } },
    });
  });

  it('never counts less than in the scrape before, while requests and reloads go on', async () => {
    let isEnding = false;
    const scrapes = (async () => {
      let before = 0;
      for (let count = 0; !isEnding || count === 0; count += 1) {
        const { samples } = await scrape(site.adminUrl);
        const total = samples
          .filter(({ name, labels }) => name === 'requests_total' && labels['route'] === 'one')
          .reduce((sum, { value }) => sum + value, 0);
        expect(total).toBeGreaterThanOrEqual(before);
        before = total;
      }
    })();
    const before = countOf('one');
    for (let round = 0; round < 6; round += 1) {
      await Promise.all([site.send(40, '/one'), site.reload(round % 2 === 0 ? ONE : ONE + TWO)]);
    }
    isEnding = true;
    await scrapes;
    await expectCount('one', before + 240);
  });

  it('reports the connections and the load of each worker', async () => {
    const { value, samples } = await scrape(site.adminUrl);
    const workers = samples.filter(({ name }) => name === 'worker_connections').map(({ labels }) => labels['worker']);
    expect(workers).toEqual(['0', '1']);
    for (const worker of ['0', '1'])
      expect(value('worker_eventloop_seconds_total', { worker, state: 'active' })).toBeGreaterThan(0);
  });
});

describe('the log of two workers', () => {
  it('has exactly one complete line for each of 5,000 requests, also when they stop', async () => {
    const other = await startTelemetrySite(2, upstream.url, ONE);
    await other.send(5_000, '/one', 60);
    await other.close();
    const lines = other.logText().split('\n');
    expect(lines.pop()).toBe('');
    const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    expect(requests.length).toBe(5_000);
    expect(new Set(requests.map(({ id }) => id)).size).toBe(5_000);
    const share = requests.filter(({ worker }) => worker === 1).length;
    expect(share).toBeGreaterThan(500);
    expect(share).toBeLessThan(4_500);
  });
});
