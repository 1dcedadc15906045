import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../src/engine/gateway/telemetry/request-record.ts';
import type { RequestEvent } from '../../src/process/telemetry/request-event.ts';
import type { MainRequests, ServingRequests } from '../../src/process/workers/messages.ts';
import { createRequestEventBatches } from '../../src/process/workers/request-event-batches.ts';
import { type ChannelPort, ThreadChannel } from '../../src/process/workers/thread-channel.ts';
import { readFigures, type ThreadFigures } from '../../src/process/workers/thread-figures.ts';
import { createWorkerTelemetry } from '../../src/process/workers/worker-telemetry.ts';
import { PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/site.ts';

let site: TestGateway;
beforeAll(async () => {
  site = await startGateway(
    `version: 1\nlisten: 127.0.0.1:0\nupstreams: { up: { url: 'http://127.0.0.1:9' } }\nroutes:\n${PUBLIC_ALL}`,
  );
});
afterAll(() => site.close());

/** Returns the two ends of a channel between the main thread and a worker. */
function connect() {
  const { port1, port2 } = new MessageChannel();
  const main = new ThreadChannel<ServingRequests, MainRequests>(port1 as ChannelPort);
  const worker = new ThreadChannel<MainRequests, ServingRequests>(port2 as ChannelPort);
  const close = async () => {
    port1.close();
    await once(port2, 'close');
  };
  return { main, worker, close };
}

/** Returns the figures of a worker in which every counter has this value. */
function figuresOf(value: number): ThreadFigures {
  const { validation, dns } = readFigures(site.gateway);
  const { refused } = validation;
  return {
    connections: value,
    eventLoop: { active: value, idle: value },
    validation: {
      ...validation,
      busy: value,
      started: value,
      refused: { ...refused, queue_full: value },
    },
    dns: { ...dns, outcomes: { ...dns.outcomes, ok: value }, buckets: dns.buckets.map(() => value), inFlight: value },
  };
}

describe('the telemetry of workers', () => {
  it('adds the figures of all workers, and keeps the counters of those that have ended', async () => {
    const telemetry = createWorkerTelemetry(site.gateway, site.log);
    const before = telemetry.totals;
    const started = () => telemetry.totals.validation.started - before.validation.started;
    const [one, two] = [connect(), connect()];
    telemetry.attach(1, one.main);
    telemetry.attach(2, two.main);
    one.worker.notify('figures', figuresOf(3));
    two.worker.notify('figures', figuresOf(5));
    await eventually('the figures arrive', () => started() === 8);
    one.worker.notify('figures', figuresOf(4));
    await eventually('the latest figures replace the earlier ones', () => started() === 9);
    const { validation, dns } = telemetry.totals;
    expect(validation.refused.queue_full - before.validation.refused.queue_full).toBe(9);
    expect([dns.outcomes.ok - before.dns.outcomes.ok, dns.buckets[0]]).toEqual([9, 9 + (before.dns.buckets[0] ?? 0)]);
    expect([...telemetry.figures.keys()]).toEqual([0, 1, 2]);

    telemetry.forget(1);
    expect(started()).toBe(9);
    expect(telemetry.totals.validation.busy).toBe(before.validation.busy + 5);
    expect(telemetry.totals.dns.inFlight).toBe(before.dns.inFlight + 5);
    expect(telemetry.figures.get(1)?.connections).toBe(0);
    const next = connect();
    telemetry.attach(1, next.main);
    next.worker.notify('figures', figuresOf(10));
    await eventually('the successor counts on', () => started() === 19);
    expect(telemetry.figures.get(1)?.eventLoop.active).toBe(14);
    await Promise.all([one, two, next].map(({ close }) => close()));
  });

  it('lets workers send events only while somebody listens, also those that start later', async () => {
    const telemetry = createWorkerTelemetry(site.gateway, site.log);
    const [one, two] = [connect(), connect()];
    const calls: string[] = [];
    one.worker.handle('sendEvents', (isListening) => void calls.push(`one ${isListening}`));
    two.worker.handle('sendEvents', (isListening) => void calls.push(`two ${isListening}`));
    telemetry.attach(1, one.main);
    const events: RequestEvent[] = [];
    let skipped = 0;
    const listener = {
      onEvent: (event: RequestEvent) => void events.push(event),
      onSkipped: (count: number) => {
        skipped += count;
      },
    };
    const stops = [telemetry.subscribe(listener), telemetry.subscribe({ ...listener, onEvent: () => undefined })];
    telemetry.attach(2, two.main);
    await eventually('both workers know', () => calls.length === 2);
    two.worker.notify('events', { events: [{ id: 'a' } as RequestEvent], skipped: 4 });
    await eventually('the batch arrives', () => events.length === 1);
    expect(skipped).toBe(8);
    stops[0]?.();
    expect(site.gateway.subscribers).toBe(1);
    stops[1]?.();
    await eventually('both workers know that nobody listens', () => calls.length === 4);
    expect(calls).toEqual(['one true', 'two true', 'one false', 'two false']);
    expect(site.gateway.subscribers).toBe(0);
    await Promise.all([one.close(), two.close()]);
  });
});

describe('the event batches of a worker', () => {
  it('have at most 500 events, count the others, and end with the last listener', () => {
    const subscribers = new Set<(record: RequestRecord) => void>();
    const gateway = {
      subscribe(subscriber: (record: RequestRecord) => void) {
        subscribers.add(subscriber);
        return () => void subscribers.delete(subscriber);
      },
    };
    const sent: [events: number, skipped: number][] = [];
    const batches = createRequestEventBatches(gateway, ({ events, skipped }) => sent.push([events.length, skipped]));
    const publish = (count: number) => {
      for (let id = 0; id < count; id += 1)
        for (const subscriber of subscribers) subscriber({ id: `${id}`, retries: 0 } as RequestRecord);
    };
    publish(3);
    batches.start();
    batches.start();
    expect(subscribers.size).toBe(1);
    publish(700);
    batches.flush();
    batches.flush();
    publish(2);
    batches.stop();
    publish(5);
    batches.stop();
    expect([sent, subscribers.size]).toEqual([
      [
        [500, 200],
        [2, 0],
      ],
      0,
    ]);
  });
});
