import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { CpuBudget } from '../../src/admin/cpu-budget.ts';

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('the processor budget of the admin API', () => {
  it('is a quarter of the serving thread for all callers together', async () => {
    const budget = new CpuBudget();
    const start = performance.now();
    await Promise.all(Array.from({ length: 30 }, () => budget.run(() => work(4))));
    // All work but the burst is followed by a pause. A busy machine only makes it longer.
    expect(performance.now() - start).toBeGreaterThan(30 * 4 * 4 - 40);
  });

  it('runs work one item at a time in the order of the calls, and continues after work that fails', async () => {
    const budget = new CpuBudget();
    const done: number[] = [];
    const all = [1, 2, 3].map((number) =>
      budget.run(() => {
        done.push(number);
        if (number === 2) throw new Error('failed');
      }),
    );
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(done).toEqual([1, 2, 3]);
  });

  it('runs long work in slices that alternate with other work', async () => {
    const budget = new CpuBudget();
    const done: string[] = [];
    const steps = function* (name: string) {
      for (let step = 0; step < 5; step += 1) {
        work(2);
        done.push(name);
        yield undefined;
      }
      return name;
    };
    expect(await Promise.all([budget.runInSlices(steps('a')), budget.runInSlices(steps('b'))])).toEqual(['a', 'b']);
    expect(done.join('')).toBe('ab'.repeat(5));
  });
});
