import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ComparisonResult } from '../../src/traffic/compare-outcomes.ts';
import { MAX_CALLERS, MAX_GROUPS, OutcomeComparison } from '../../src/traffic/comparison.ts';
import type { KnownOutcome } from '../../src/traffic/outcome.ts';

function refused(route: string): KnownOutcome {
  return { kind: 'refused', route, status: 403, code: 'role_not_allowed', reason: 'role_not_allowed' } as KnownOutcome;
}

function change(route: string): ComparisonResult {
  return { result: 'changed', kind: 'other-status', from: refused(route), to: refused(`${route}-next`) };
}

const anyResult: fc.Arbitrary<ComparisonResult> = fc.oneof(
  fc.constant({ result: 'same' as const }),
  fc.constantFrom('body' as const, 'token' as const).map((reason) => ({ result: 'unknown' as const, reason })),
  fc.constantFrom('a', 'b', 'c').map(change),
);

/** A result in one of three threads. It may be the last one that the thread sends in a batch. */
const anyStep = fc.record({
  thread: fc.nat(2),
  result: anyResult,
  caller: fc.option(fc.constantFrom('ada', 'bob', 'eve'), { nil: undefined }),
  isSent: fc.boolean(),
});

function reportOf(comparison: OutcomeComparison<number>) {
  const { groups, unknown, changed, ...rest } = comparison.report();
  const sortedGroups = groups
    .map(({ witnesses, ...group }) => ({ ...group, hasWitness: witnesses.length === 1 }))
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  return { ...rest, unknown: new Map([...unknown].sort()), changed: new Map(changed), groups: sortedGroups };
}

describe('merged comparisons', () => {
  it('have the report of one comparison of all results, in any batches', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const [single, merged] = [new OutcomeComparison<number>(), new OutcomeComparison<number>()];
        const threads = [merged, new OutcomeComparison<number>(), new OutcomeComparison<number>()];
        const send = (thread: OutcomeComparison<number>) => {
          if (thread !== merged) merged.merge(structuredClone(thread.take()));
        };
        for (const [index, { thread, result, caller, isSent }] of steps.entries()) {
          const own = threads[thread] as OutcomeComparison<number>;
          for (const comparison of [single, own]) {
            if (result.result === 'same') comparison.addSame();
            else
              comparison.add(
                result,
                1,
                () => caller,
                () => index,
              );
          }
          if (isSent) send(own);
        }
        for (const thread of threads) send(thread);
        expect(reportOf(merged)).toEqual(reportOf(single));
        expect(merged.changes).toBe(single.changes);
      }),
    );
  });

  it('have the limits of one comparison', () => {
    const merged = new OutcomeComparison<number>();
    for (let batch = 0; batch < 3; batch += 1) {
      const other = new OutcomeComparison<number>();
      for (let index = 0; index < MAX_GROUPS; index += 1)
        other.add(
          change(`${batch % 2}-${index}`),
          1,
          () => `caller-${batch}`,
          () => batch,
        );
      merged.merge(other.take());
    }
    const { groups, ungrouped, changed } = merged.report();
    expect([groups.length, ungrouped, changed.get('other-status')]).toEqual([MAX_GROUPS, MAX_GROUPS, 3 * MAX_GROUPS]);
    expect(new Set(groups.map(({ requests, callers, witnesses }) => `${requests} ${callers} ${witnesses}`))).toEqual(
      new Set(['2 2 0']),
    );
  });

  it('count a bounded number of callers', () => {
    const merged = new OutcomeComparison<number>();
    for (const prefix of ['a', 'b']) {
      const other = new OutcomeComparison<number>();
      for (let index = 0; index < MAX_CALLERS - 10; index += 1)
        other.add(
          change('a'),
          1,
          () => prefix + index,
          () => index,
        );
      merged.merge(other.take());
    }
    expect(merged.report().groups.map(({ callers }) => callers)).toEqual([MAX_CALLERS]);
  });
});
