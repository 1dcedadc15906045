import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import { CountingThreads } from '../../support/counting-threads.ts';
import { pause } from '../../support/pause.ts';
import { cases, SEED } from '../../support/runs.ts';
import { scaledMs } from '../../support/slowness.ts';

const ROUNDS = cases(10);
/** A thread takes a lock from a terminated one after a second. */
const TAKEOVER_MS = 1_000;
const BURST = 1_000;

it.each([undefined, new Set([401])])(
  'a terminated thread blocks no other for longer than a lock waits, and makes no limit looser',
  async (failures) => {
    const values = Array.from({ length: 100 }, (_, index) => `user-${index}@example.com`);
    const limit = { id: 'limit', key: 'limit', burst: BURST, intervalMs: 60_000, failures } as RateLimit;
    const threads = new CountingThreads(limit, { values, msPerTicket: 0, inventsValues: true }, SEED);
    const counters = threads.counters(0, () => 0);
    let workers: Worker[] = [];
    let allowed = 0;
    let longestMs = 0;
    threads.open();
    for (let round = 0; round < ROUNDS; round += 1) {
      workers = await Promise.all([1, 2, 3].map((index) => threads.start(index)));
      await pause((round + SEED) % 7);
      await Promise.all(workers.map((worker) => worker.terminate()));
      const start = performance.now();
      for (const index of [1, 2, 3]) counters.forgetWorker(index);
      for (const value of values) if (counters.count(limit, value).waitMs === 0) allowed += 1;
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    for (const value of values) while (counters.count(limit, value).waitMs === 0) allowed += 1;
    const total = threads.allowed.reduce((sum, each) => sum + each, allowed);
    expect(total).toBeLessThanOrEqual(BURST * values.length);
    // A thread can end after it has counted a request and before it records it.
    expect(total).toBeGreaterThanOrEqual(BURST * values.length - 3 * ROUNDS);
    // Each of the threads can have held one lock.
    expect(longestMs).toBeLessThan(3 * TAKEOVER_MS + scaledMs(2_000));
  },
);
