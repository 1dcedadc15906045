import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UNIQUE_ITEMS } from '../../../src/engine/schema/own-keywords.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { runs } from '../../support/runs.ts';

const areUnique = (items: readonly unknown[]) => UNIQUE_ITEMS.validate(true, items);

test.each<[boolean, unknown[]]>([
  [true, []],
  [true, [1, '1', true, 'true', null, 'null', [], {}, '[]', '{}']],
  [false, [1, 1.0]],
  [false, [0, -0]],
  [true, [[1], ['1'], [[1]]]],
  [
    false,
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
  ],
  [
    true,
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
  ],
  [true, [{ a: '1,"b":2' }, { a: '1', b: 2 }]],
  [true, [{ a: undefined }.a ?? 'x', { toString: 1 }]],
  [true, [[1, 2], [[1], 2], [1, [2]], ['1,2']]],
])('is %s for %j', (expected, items) => expect(areUnique(items)).toBe(expected));

test('agrees with a comparison of every pair', () => {
  const item = fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => !Object.is(value, -0) && !JSON.stringify(value).includes('-0'));
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), fc.nat(), fc.boolean(), (items, pick, isDoubled) => {
      const all = isDoubled && items.length > 0 ? [...items, structuredClone(items[pick % items.length])] : items;
      const hasTwins = all.some((one, index) => all.slice(0, index).some((other) => isDeepStrictEqual(one, other)));
      expect(areUnique(all)).toBe(!hasTwins);
    }),
    { numRuns: runs(2_000) },
  );
});

test('compares a hundred thousand objects in linear time', () => {
  const items = Array.from({ length: 100_000 }, (_, index) => ({ a: [index], b: 'x' }));
  const start = cpuMs();
  expect(areUnique(items)).toBe(true);
  expect(areUnique([...items, items[7]])).toBe(false);
  expect(cpuMs() - start).toBeLessThan(3_000);
});
