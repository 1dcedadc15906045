import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { CpuBudget } from '../../src/admin/cpu-budget.ts';

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('the share of the serving thread', () => {
  it('is a quarter, for all callers together', async () => {
    const share = new CpuBudget();
    const start = performance.now();
    await Promise.all(Array.from({ length: 30 }, () => share.run(() => work(4))));
    // All but the burst is rested from; a busy machine only makes it longer.
    expect(performance.now() - start).toBeGreaterThan(30 * 4 * 4 - 40);
  });

  it('is used in the order of the requests, by one at a time, and goes on behind work that fails', async () => {
    const share = new CpuBudget();
    const done: number[] = [];
    const all = [1, 2, 3].map((number) =>
      share.run(() => {
        done.push(number);
        if (number === 2) throw new Error('failed');
      }),
    );
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(done).toEqual([1, 2, 3]);
  });

  it('gives work of any length a slice at a time, in turn with others', async () => {
    const share = new CpuBudget();
    const done: string[] = [];
    const steps = function* (name: string) {
      for (let step = 0; step < 5; step += 1) {
        work(2);
        done.push(name);
        yield undefined;
      }
      return name;
    };
    expect(await Promise.all([share.runInSlices(steps('a')), share.runInSlices(steps('b'))])).toEqual(['a', 'b']);
    expect(done.join('')).toBe('ab'.repeat(5));
  });
});
