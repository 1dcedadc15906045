import { expect, it } from 'vitest';
import { LocalCounters } from '../../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import { cpuMs } from '../../support/cpu-time.ts';

it('counts a million values in 50 MB, and never blocks for long', () => {
  const count = 1_000_000;
  const minuteMs = 60_000;
  const limit = {
    id: 'limit',
    key: 'limit',
    requests: 5,
    periodMs: 5 * minuteMs,
    burst: 5,
    intervalMs: minuteMs,
  } as RateLimit;
  const counters = new LocalCounters(() => 0);
  counters.activate([limit]);
  const before = process.memoryUsage.rss();
  let longest = 0;
  for (let start = 0; start < count; start += 100) {
    const startMs = cpuMs();
    for (let index = start; index < start + 100; index += 1) counters.count(limit, `user-${index}@example.com`);
    longest = Math.max(longest, cpuMs() - startMs);
  }
  const table = counters.tables.get('limit');
  expect((table?.size ?? 0) + (table?.rows.sum('evicted') ?? 0)).toBe(count);
  expect(table?.rows.sum('evicted')).toBeLessThan(count / 10_000);
  // The process has garbage too that is not yet collected. Shared memory is in no other figure of Node.
  expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
  expect(longest).toBeLessThan(30);
});
