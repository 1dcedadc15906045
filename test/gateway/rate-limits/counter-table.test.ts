import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CounterTable } from '../../../src/engine/rate-limits/counter-table.ts';
import { limitBuffer } from '../../../src/engine/rate-limits/limit-buffer.ts';
import { LocalCounters } from '../../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import { wholeSeconds } from '../../../src/engine/rate-limits/rate-limiter.ts';
import { KeyedHash } from '../../../src/engine/shared-memory/keyed-hash.ts';
import { SINGLE_WORKER } from '../../../src/engine/shared-memory/worker-context.ts';
import { runs } from '../../support/runs.ts';

const MINUTE = 60_000;

function limitOf(key: string, burst: number, failures?: ReadonlySet<number>): RateLimit {
  return { id: key, key, requests: burst, periodMs: burst * MINUTE, burst, intervalMs: MINUTE, failures } as RateLimit;
}

/** Counters of many limits, so that each one has room for 2,048 values. */
function smallCounters(first: RateLimit) {
  const clock = { ms: 0 };
  const counters = new LocalCounters(() => clock.ms);
  const others = Array.from({ length: 1_023 }, (_, index) => limitOf(`other-${index}`, 1));
  counters.activate([first, ...others]);
  return { counters, clock, others, tableOf: ({ key }: RateLimit) => counters.tables.get(key) as CounterTable };
}

describe('KeyedHash', () => {
  it('spreads similar texts evenly, and in another way for each key', () => {
    const [first, second] = [new KeyedHash(), new KeyedHash()];
    const counts = new Array(64).fill(0);
    const pairs = new Set<string>();
    let equal = 0;
    for (let index = 0; index < 64_000; index += 1) {
      const text = `user${index}@example.com`;
      first.hash(text);
      second.hash(text);
      counts[first.low % 64] += 1;
      pairs.add(`${first.high},${first.low}`);
      if (first.low % 64 === second.low % 64) equal += 1;
    }
    expect(pairs.size).toBe(64_000);
    expect(Math.min(...counts, equal)).toBeGreaterThan(800);
    expect(Math.max(...counts, equal)).toBeLessThan(1_200);
  });

  it('differs for texts that differ in their length, or in one character of any plane', () => {
    const hash = new KeyedHash();
    const hashOf = (text: string) => {
      hash.hash(text);
      return `${hash.high},${hash.low}`;
    };
    const text = fc.string({ unit: fc.constantFrom('\0', 'a', 'b', '\u0100', '\u0101', '\u{1f600}'), maxLength: 6 });
    const property = fc.property(text, text, (a, b) => (hashOf(a) === hashOf(b)) === (a === b));
    fc.assert(property, { numRuns: runs(2_000) });
    const texts = ['', '\0', '\0\0', '\0\0\0', 'a', 'a\0', '\0a', '\u0100', '\u0001'];
    expect(new Set(texts.map(hashOf)).size).toBe(texts.length);
  });
});

describe('CounterTable', () => {
  it('keeps the counter of each value while it grows', () => {
    const now = 5;
    const { bytes, maxBytes } = limitBuffer({ key: 'limit' });
    const buffer = new SharedArrayBuffer(bytes, { maxByteLength: maxBytes });
    const table = new CounterTable(buffer, SINGLE_WORKER, 2 ** 18, () => now);
    const expected = new Map<string, number>();
    for (let index = 0; index < 100_000; index += 1) {
      const value = `value-${index % 60_000}`;
      table.lock(value);
      table.select(now, Number.POSITIVE_INFINITY);
      table.arrival += 1 + (index % 3);
      table.unlock();
      expected.set(value, (expected.get(value) ?? now) + 1 + (index % 3));
    }
    expect([table.size, table.rows.sum('evicted'), table.rows.sum('overflowed')]).toEqual([60_000, 0, 0]);
    const arrivalOf = (value: string) => {
      table.lock(value);
      const arrival = table.find() ? table.arrival : undefined;
      table.unlock();
      return arrival;
    };
    expect([...expected].filter(([value, arrival]) => arrivalOf(value) !== arrival)).toEqual([]);
    expect(arrivalOf('another value')).toBeUndefined();
  });

  it('takes the slots of values whose time has passed', () => {
    const limit = limitOf('limit', 5);
    const { counters, clock, tableOf } = smallCounters(limit);
    for (let index = 0; index < 50_000; index += 1) {
      clock.ms += MINUTE / 500;
      expect(counters.count(limit, `value-${index}`).remaining).toBe(4);
    }
    expect(tableOf(limit).size).toBe(500);
    expect(tableOf(limit).rows.sum('evicted')).toBeLessThan(10);
    clock.ms += MINUTE;
    expect(tableOf(limit).size).toBe(0);
  });
});

describe('an attacker who invents values', () => {
  it.each([undefined, new Set([401])])('cannot make the gateway forget one that is over its limit', (failures) => {
    const limit = limitOf('limit', 5, failures);
    const { counters, clock, tableOf } = smallCounters(limit);
    const victims = Array.from({ length: 200 }, (_, index) => `victim-${index}`);
    for (const victim of victims) for (let index = 0; index < 5; index += 1) counters.count(limit, victim);
    for (let index = 0; index < 100_000; index += 1) {
      clock.ms += 0.1;
      counters.count(limit, `invented-${index}`);
    }
    expect(tableOf(limit).rows.sum('evicted')).toBeGreaterThan(90_000);
    for (const victim of victims) expect(counters.count(limit, victim).waitMs).toBeGreaterThan(0);
  });

  it('shares one counter with other new values once all slots are over their limits', () => {
    const limit = limitOf('limit', 1, new Set([401]));
    const { counters, clock, tableOf } = smallCounters(limit);
    let allowed = 0;
    for (let index = 0; index < 20_000; index += 1)
      if (counters.count(limit, `value-${index}`).waitMs === 0) allowed += 1;
    expect(allowed).toBeGreaterThan(1_800);
    expect(allowed).toBeLessThanOrEqual(2_049);
    expect(tableOf(limit).rows.sum('overflowed')).toBeGreaterThan(17_000);
    // Successes of values without room do not block the others.
    clock.ms = MINUTE + 1;
    for (let index = 0; index < 20_000; index += 1) {
      const value = `late-${index}`;
      const counted = counters.count(limit, value);
      expect(counted.waitMs).toBe(0);
      if (counted.isOverflow) counters.release(limit, value, counted);
    }
    expect(tableOf(limit).rows.sum('overflowed')).toBeGreaterThan(34_000);
  });

  it('does not reach the values of other limits', () => {
    const limit = limitOf('limit', 5);
    const { counters, others } = smallCounters(limit);
    const [other] = others as [RateLimit];
    counters.count(other, 'a');
    for (let index = 0; index < 50_000; index += 1) counters.count(limit, `invented-${index}`);
    expect(counters.count(other, 'a').waitMs).toBe(MINUTE);
  });
});

describe('a reload', () => {
  it('with more limits keeps the values that are over their limits, and gives the others less room', () => {
    const clock = { ms: 0 };
    const counters = new LocalCounters(() => clock.ms);
    const limit = limitOf('limit', 2);
    counters.activate([limit]);
    for (let index = 0; index < 60_000; index += 1) counters.count(limit, `value-${index % 50_000}`);
    clock.ms = MINUTE;
    counters.activate([limit, ...Array.from({ length: 63 }, (_, index) => limitOf(`other-${index}`, 1))]);
    expect(counters.tables.get('limit')?.size).toBe(10_000);
    for (let index = 0; index < 10_000; index += 1) expect(counters.count(limit, `value-${index}`).remaining).toBe(0);
    // Values that are not over their limit share the rest of the slots, which the table keeps.
    const byteLength = counters.tables.get('limit')?.buffer.byteLength;
    for (let index = 0; index < 200_000; index += 1) counters.count(limit, `invented-${index}`);
    expect(counters.tables.get('limit')?.buffer.byteLength).toBe(byteLength);
    expect(counters.tables.get('limit')?.rows.sum('evicted')).toBeGreaterThanOrEqual(200_000 + 10_000 - 131_072);
    // A limit without values gets its share, which is 32,768 slots.
    for (let index = 0; index < 80_000; index += 1) counters.count(limitOf('other-0', 2), `invented-${index}`);
    expect(counters.tables.get('other-0')?.size).toBeGreaterThan(32_000);
    expect(counters.tables.get('other-0')?.size).toBeLessThanOrEqual(32_768);
    for (let index = 0; index < 10_000; index += 1) counters.count(limit, `value-${index}`);
    expect(counters.tables.get('limit')?.rows.sum('overflowed')).toBe(0);
  });

  it('without a limit forgets its values', () => {
    const limit = limitOf('limit', 1);
    const counters = new LocalCounters(() => 0);
    counters.activate([limit]);
    counters.count(limit, 'a');
    counters.activate([]);
    expect(counters.tables.size).toBe(0);
    counters.activate([limit]);
    expect(counters.count(limit, 'a').waitMs).toBe(0);
  });
});

it.each([
  [0.002, 1],
  [999.9, 1],
  [1_000.000_000_1, 1],
  [1_000.002, 2],
  [90_000.000_001, 90],
])('rounds %d ms up to %d s, without the rounding errors of sums', (ms, seconds) => {
  expect(wholeSeconds(ms)).toBe(seconds);
});
