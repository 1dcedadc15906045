import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import type { CountingStep } from '../../support/counting-steps.ts';
import { CountingThreads } from '../../support/counting-threads.ts';
import { IS_DEEP, SEED } from '../../support/runs.ts';
import { GcraQueue } from './gcra-queue.ts';

const RUNS = IS_DEEP ? 24 : 4;

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
    for (let run = 0; run < RUNS; run += 1) {
      const values = valuesOf([1, 3, 300][run % 3] as number);
      const limit = limitOf([1, 4, 30][(run + SEED) % 3] as number, 64, new Set([401]));
      const options = { values, steps: 6_000, msPerTicket: [0, 1, 8, 32][run % 4] as number };
      const steps = await stepsOf(new CountingThreads(limit, options, SEED * 1_000 + run), count);
      const queues = new Map(values.map((value) => [value, new GcraQueue(limit.intervalMs, limit.burst)]));
      for (const { ticket, action, value, request, waitMs, remaining, resetMs } of steps) {
        const queue = queues.get(value) as GcraQueue;
        const now = ticket * options.msPerTicket;
        if (action !== 'count') queue.end(request, now, action === 'release');
        else if (!isDeepStrictEqual({ waitMs, remaining, resetMs }, queue.count(request, now)))
          expect.fail(`with seed ${SEED}, ${request} of run ${run} has another result than one thread would have`);
      }
      expect(new Set(steps.map(({ ticket }) => ticket)).size).toBe(steps.length);
    }
  });
});
