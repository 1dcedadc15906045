import { expect } from 'vitest';

/** The small run has a tenth of the size. A linear cost is then 10 times as high, and a quadratic one 100 times. */
const TIMES = 10;
/** Above the noise of the garbage collector and of other processes, and below a quadratic cost. */
const MAX_RATIO = 25;
/** A shorter run says nothing about the cost: most of it is the compilation of the code. */
const MIN_CPU_MS = 20;

/**
 * Runs work of a size, and fails if its cost grows much faster than the size. Compares processor time of this thread, which
 * depends little on the load of the machine.
 */
export function withLinearCost<T>(size: number, work: (size: number) => T): T {
  const small = measure(() => work(Math.ceil(size / TIMES)));
  const large = measure(() => work(size));
  expect(large.cpuMs).toBeLessThan(MAX_RATIO * Math.max(small.cpuMs, MIN_CPU_MS));
  return large.result;
}

function measure<T>(work: () => T): { readonly result: T; readonly cpuMs: number } {
  const start = process.threadCpuUsage();
  const result = work();
  const { user, system } = process.threadCpuUsage(start);
  return { result, cpuMs: (user + system) / 1000 };
}
