import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LimitHistories } from '../../src/admin/limit-traffic.ts';
import { copyLimitCounts, type LimitCounts } from '../../src/engine/rate-limits/rate-limit.ts';

const ID = 'login';
/** The number of intervals of half a minute in an hour. */
const HOUR = 120;

type Result = 'allowed' | 'refused' | 'reported' | 'skipped';

/** Sums what the intervals before the current one counted. Each list of results is one interval; the last one has not ended. */
function sumOf(intervals: readonly (readonly Result[])[], earlier: number) {
  const results = intervals.slice(-earlier - 1).flat();
  const countOf = (result: Result) => results.filter((each) => each === result).length;
  return { requests: results.length, refused: countOf('refused'), reported: countOf('reported') };
}

it('sums the last minute and the last hour of a limit', () => {
  const results = fc.constantFrom<Result>('allowed', 'refused', 'reported', 'skipped');
  const interval = fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, fc.array(results, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(interval, { minLength: 1, maxLength: 3 * HOUR, size: 'max' }), (intervals) => {
      const histories = new LimitHistories();
      const counts: LimitCounts = copyLimitCounts(undefined);
      const all = new Map([[ID, counts]]);
      for (const [index, added] of intervals.entries()) {
        for (const result of added) counts[result] += 1;
        const past = intervals.slice(0, index + 1);
        const hour = sumOf(past, HOUR);
        const expected = hour.requests === 0 ? [] : [{ id: ID, ...sumOf(past, 1), last_hour: hour }];
        expect(histories.recent(all)).toEqual(expected);
        histories.endInterval(all);
      }
    }),
  );
});

it('forgets a limit that a reload removed and added again', () => {
  const histories = new LimitHistories();
  const first = new Map([[ID, { ...copyLimitCounts(undefined), refused: 5 }]]);
  histories.endInterval(first);
  expect(histories.recent(first)).toMatchObject([{ refused: 5 }]);
  const second = new Map([[ID, { ...copyLimitCounts(undefined), allowed: 1 }]]);
  expect(histories.recent(second)).toEqual([
    { id: ID, requests: 1, refused: 0, reported: 0, last_hour: { requests: 1, refused: 0, reported: 0 } },
  ]);
});
