import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/plan/rate-limits/rate-limit.ts';
import type { CountingStep } from '../../support/counting-steps.ts';
import { CountingThreads } from '../../support/counting-threads.ts';
import { pause } from '../../support/pause.ts';
import { runs } from '../../support/runs.ts';
import { GcraQueue } from './gcra-queue.ts';

const SEED = Number(process.env['SEED'] ?? 1);
/** A thread takes a lock from a terminated one after a second. */
const TAKEOVER_MS = 1_000;

function limitOf(burst: number, intervalMs: number, failures?: ReadonlySet<number>): RateLimit {
  return { id: 'limit', key: 'limit', burst, intervalMs, failures } as RateLimit;
}

const valuesOf = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}@example.com`);

/** Runs threads until each has taken its steps. Returns all steps in the order of their tickets. */
async function stepsOf(threads: CountingThreads, count: number): Promise<CountingStep[]> {
  const workers = await Promise.all(Array.from({ length: count }, (_, index) => threads.start(index)));
  const logs = workers.map((worker) => once(worker, 'message'));
  threads.open();
  const steps = (await Promise.all(logs)).flatMap(([log]) => log as CountingStep[]);
  await Promise.all(workers.map((worker) => worker.terminate()));
  return steps.sort((a, b) => a.ticket - b.ticket);
}

describe.each([2, 4])('%d threads', (count) => {
  it('together allow exactly as many requests as the limit', async () => {
    const values = valuesOf(200);
    const threads = new CountingThreads(limitOf(50, 60_000), { values, steps: 40_000 / count, msPerTicket: 0 }, SEED);
    const steps = await stepsOf(threads, count);
    expect(steps).toHaveLength(40_000);
    for (const value of values) {
      const allowed = steps.filter((step) => step.value === value && step.waitMs === 0);
      expect(allowed.map(({ remaining }) => remaining)).toEqual(Array.from({ length: 50 }, (_, index) => 49 - index));
    }
  });

  it('count, release and keep requests as one thread would in some order', async () => {
    for (let run = 0; run < runs(20); run += 1) {
      const values = valuesOf([1, 3, 300][run % 3] as number);
      const limit = limitOf([1, 4, 30][(run + SEED) % 3] as number, 64, new Set([401]));
      const options = { values, steps: 6_000, msPerTicket: [0, 1, 8, 32][run % 4] as number };
      const steps = await stepsOf(new CountingThreads(limit, options, SEED * 1_000 + run), count);
      const queues = new Map(values.map((value) => [value, new GcraQueue(limit.intervalMs, limit.burst)]));
      for (const { ticket, action, value, request, waitMs, remaining, resetMs } of steps) {
        const queue = queues.get(value) as GcraQueue;
        const now = ticket * options.msPerTicket;
        if (action === 'count') expect({ waitMs, remaining, resetMs }).toEqual(queue.count(request, now));
        else queue.end(request, now, action === 'release');
      }
      expect(new Set(steps.map(({ ticket }) => ticket)).size).toBe(steps.length);
    }
  });
});

describe('a thread that is terminated while it counts', () => {
  it('blocks no other for longer than a lock waits, and makes no limit looser', async () => {
    const values = valuesOf(100);
    const burst = 1_000;
    const options = { values, msPerTicket: 0, inventsValues: true };
    const threads = new CountingThreads(limitOf(burst, 60_000), options, SEED);
    const counters = threads.counters(0, () => 0);
    let workers: Worker[] = [];
    let allowed = 0;
    let longestMs = 0;
    threads.open();
    for (let round = 0; round < runs(40); round += 1) {
      workers = await Promise.all([1, 2, 3].map((index) => threads.start(index)));
      await pause(round % 7);
      await Promise.all(workers.map((worker) => worker.terminate()));
      for (const index of [1, 2, 3]) counters.forgetWorker(index);
      const start = performance.now();
      for (const value of values) if (counters.count(threads.limit, value).waitMs === 0) allowed += 1;
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    while (values.some((value) => counters.count(threads.limit, value).waitMs === 0 && ++allowed > 0));
    const total = threads.allowed.reduce((sum, each) => sum + each, allowed);
    expect(total).toBeLessThanOrEqual(burst * values.length);
    // A thread can end after it has counted a request and before it records it.
    expect(total).toBeGreaterThanOrEqual(burst * values.length - 3 * runs(40));
    // Each of the threads can have held one lock.
    expect(longestMs).toBeLessThan(3 * TAKEOVER_MS + 1_000);
  });
});
