import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PENDING_ENTRIES } from '../../../src/engine/rate-limits/limit-buffer.ts';
import { type CountedRequest, LocalCounters } from '../../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import { SharedMemory } from '../../../src/engine/shared-memory/worker-context.ts';
import { runs } from '../../support/runs.ts';
import { ExactGcra } from './gcra.ts';

interface Rate {
  readonly requests: number;
  readonly periodMs: number;
  readonly burst: number;
}

const rates: fc.Arbitrary<Rate> = fc
  .record({
    requests: fc.integer({ min: 1, max: 40 }),
    periodMs: fc.constantFrom(7, 100, 1_000, 60_000, 900_000, 86_400_000),
    burst: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  })
  .map(({ requests, periodMs, burst = requests }) => ({ requests, periodMs, burst }));

function limitOf({ requests, periodMs, burst }: Rate, failures?: ReadonlySet<number>): RateLimit {
  return {
    id: 'limit',
    key: 'limit',
    requests,
    periodMs,
    burst,
    intervalMs: periodMs / requests,
    failures,
  } as RateLimit;
}

/** Counters with a clock that the test sets. */
function countersOf(...limits: RateLimit[]) {
  const clock = { ms: 0 };
  const counters = new LocalCounters(() => clock.ms);
  counters.activate(limits);
  return { counters, clock };
}

describe('LocalCounters', () => {
  it('counts as the exact algorithm does, for any rate and any times', () => {
    // In intervals: most pauses are short, so that the counters are often full.
    const pauses = fc.array(fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 3 })), { maxLength: 120 });
    const property = fc.property(rates, fc.nat(2_000_000_000), pauses, (rate, start, steps) => {
      const limit = limitOf(rate);
      const { counters, clock } = countersOf(limit);
      const values = ['a', 'b', 'c', 'd'];
      const exact = new Map(values.map((value) => [value, new ExactGcra(rate.requests, rate.periodMs, rate.burst)]));
      clock.ms = start;
      for (const [hundredths, index] of steps) {
        clock.ms += Math.round((hundredths * limit.intervalMs) / 100 / values.length);
        const value = values[index] as string;
        const { waitMs, remaining, resetMs } = counters.count(limit, value);
        const expected = exact.get(value)?.count(clock.ms);
        expect(remaining).toBe(expected?.remaining);
        expect(waitMs).toBeCloseTo(expected?.waitMs ?? Number.NaN, 3);
        expect(resetMs).toBeCloseTo(expected?.resetMs ?? Number.NaN, 3);
        expect(waitMs === 0).toBe(expected?.waitMs === 0);
      }
    });
    fc.assert(property, { numRuns: runs(3_000) });
  });

  it('allows a request after exactly the time to wait, and none before', () => {
    const property = fc.property(rates, fc.nat(10_000_000), fc.integer({ min: 1, max: 60 }), (rate, start, count) => {
      const limit = limitOf(rate);
      const { counters, clock } = countersOf(limit);
      clock.ms = start;
      let waitMs = 0;
      for (let index = 0; index < count + rate.burst; index += 1) ({ waitMs } = counters.count(limit, 'a'));
      const early = waitMs - Math.min(1, limit.intervalMs / 10);
      clock.ms = start + early;
      expect(counters.count(limit, 'a').waitMs).toBeGreaterThan(0);
      clock.ms = start + waitMs;
      expect(counters.count(limit, 'a').waitMs).toBe(0);
      expect(counters.count(limit, 'a').waitMs).toBeGreaterThan(0);
    });
    fc.assert(property, { numRuns: runs(1_000) });
  });

  it('is full after a reload to a shorter limit, and not further ahead', () => {
    const long = limitOf({ requests: 1, periodMs: 86_400_000, burst: 1 });
    const short = limitOf({ requests: 10, periodMs: 1_000, burst: 10 });
    const { counters, clock } = countersOf(long);
    counters.count(long, 'a');
    counters.activate([short]);
    expect(counters.count(short, 'a').waitMs).toBe(100);
    clock.ms = 100;
    expect(counters.count(short, 'a').waitMs).toBe(0);
  });
});

interface Pending {
  readonly at: number;
  readonly counted: CountedRequest;
}

const FAILURES = new Set([401]);

describe('release', () => {
  it('never lets more failures pass than if the other requests had not been sent', () => {
    // Each step waits, then counts a request or settles one that is pending. Any order of settling can occur.
    const steps = fc.array(
      fc.record({
        hundredths: fc.nat({ max: 130 }),
        action: fc.constantFrom('count', 'count', 'release', 'keep'),
        pick: fc.nat({ max: 1_000 }),
      }),
      { minLength: 20, maxLength: 300 },
    );
    const property = fc.property(rates, steps, fc.integer({ min: 1, max: 100 }), (rate, sequence, speed) => {
      const limit = limitOf(rate, FAILURES);
      const { counters, clock } = countersOf(limit);
      const pending: Pending[] = [];
      const failures: number[] = [];
      for (const { hundredths, action, pick } of sequence) {
        clock.ms += Math.round((hundredths * limit.intervalMs) / 100 / speed);
        if (action === 'count') {
          const counted = counters.count(limit, 'a');
          if (counted.waitMs === 0) pending.push({ at: clock.ms, counted });
        } else {
          const [settled] = pending.splice(pick % Math.max(pending.length, 1), 1);
          if (settled === undefined) continue;
          if (action === 'release') counters.release(limit, 'a', settled.counted as never);
          else {
            counters.keep(limit, 'a', settled.counted as never);
            failures.push(settled.at);
          }
        }
      }
      // Requests that are still pending may become failures.
      const sent = [...failures, ...pending.map(({ at }) => at)].sort((a, b) => a - b);
      const exact = new ExactGcra(rate.requests, rate.periodMs, rate.burst);
      for (const at of sent) expect(exact.count(at).waitMs).toBeLessThan(0.01);
    });
    fc.assert(property, { numRuns: runs(10_000) });
  });

  it('takes successes back that come one after the other, however slow they are', () => {
    const property = fc.property(rates, fc.nat({ max: 400 }), (rate, hundredths) => {
      const limit = limitOf(rate, FAILURES);
      const { counters, clock } = countersOf(limit);
      for (let index = 0; index < 50; index += 1) {
        const counted = counters.count(limit, 'a');
        expect(counted.waitMs).toBe(0);
        clock.ms += (hundredths * limit.intervalMs) / 100;
        counters.release(limit, 'a', counted as never);
      }
    });
    fc.assert(property, { numRuns: runs(500) });
  });

  it('takes parallel successes back, so that a busy address without failures is not refused', () => {
    const limit = limitOf({ requests: 30, periodMs: 900_000, burst: 30 }, FAILURES);
    const { counters, clock } = countersOf(limit);
    const pending: CountedRequest[] = [];
    for (let index = 0; index < 20_000; index += 1) {
      clock.ms += 20;
      const counted = counters.count(limit, 'a');
      expect(counted.waitMs).toBe(0);
      pending.push(counted);
      // Ten requests are pending. Responses come in another order than requests.
      if (pending.length > 10)
        for (const released of pending.splice((index * 7) % 10, 1)) counters.release(limit, 'a', released as never);
    }
  });
});

it('retains the requests for which there is no room until their responses, and finds room again after that', () => {
  const limit = limitOf({ requests: 3, periodMs: 86_400_000, burst: 3 }, FAILURES);
  const { counters } = countersOf(limit);
  const room = PENDING_ENTRIES;
  const counts = Array.from({ length: room + 10 }, (_, index) => counters.count(limit, `value-${index}`));
  for (const [index, counted] of counts.entries()) counters.release(limit, `value-${index}`, counted);
  const remaining = counts.map((_, index) => counters.count(limit, `value-${index}`).remaining);
  expect(remaining.filter((each) => each === 1)).toHaveLength(10);
  expect(remaining.slice(-10)).toEqual(new Array(10).fill(1));
  expect(counters.tables.get('limit')?.rows.sum('retained')).toBe(10);
});

it('keeps the requests of a worker counted that has ended, and leaves its room for pending ones to the next', () => {
  const limit = limitOf({ requests: 3, periodMs: 86_400_000, burst: 3 }, FAILURES);
  const memory = new SharedMemory();
  const [first, second] = [0, 1].map((index) => new LocalCounters(() => 0, { index, count: 2, memory })) as [
    LocalCounters,
    LocalCounters,
  ];
  for (const counters of [first, second]) counters.activate([limit]);
  const ahead = second.count(limit, 'a');
  const counted = first.count(limit, 'a');
  for (let index = 0; index < PENDING_ENTRIES; index += 1) second.count(limit, `value-${index}`);
  first.forgetWorker(1);
  expect(ahead.remaining).toBe(2);
  const others = Array.from({ length: 1_000 }, (_, index) => first.count(limit, `other-${index}`));
  for (const [index, other] of others.entries()) first.release(limit, `other-${index}`, other);
  first.release(limit, 'a', counted);
  const next = new LocalCounters(() => 0, { index: 1, count: 2, memory });
  next.activate([limit]);
  for (let index = 0; index < 1_000; index += 1) next.release(limit, `b-${index}`, next.count(limit, `b-${index}`));
  expect(first.tables.get('limit')?.rows.sum('retained')).toBe(0);
  expect(first.count(limit, 'a').remaining).toBe(1);
});

it('gives each worker an equal part of the room for pending requests', () => {
  const limit = limitOf({ requests: 3, periodMs: 86_400_000, burst: 3 }, FAILURES);
  const memory = new SharedMemory();
  const [first, second] = [0, 1].map((index) => new LocalCounters(() => 0, { index, count: 2, memory }));
  for (const counters of [first, second]) counters?.activate([limit]);
  const counts = Array.from({ length: PENDING_ENTRIES / 2 + 10 }, (_, index) => second?.count(limit, `value-${index}`));
  for (const [index, counted] of counts.entries()) second?.release(limit, `value-${index}`, counted as never);
  expect(second?.tables.get('limit')?.rows.sum('retained')).toBe(10);
  expect(first?.count(limit, 'value-0').remaining).toBe(2);
});
