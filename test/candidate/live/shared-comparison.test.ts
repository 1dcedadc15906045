import { describe, expect, it } from 'vitest';
import { SharedMemory } from '../../../src/engine/shared-memory/worker-context.ts';
import { KeptBody, SharedComparison } from '../../../src/traffic/candidate/shared-comparison.ts';

const MB = 1024 ** 2;

/** Returns the views that workers have of one comparison. */
function views(count: number, limits = 0): SharedComparison[] {
  const memory = new SharedMemory();
  return Array.from({ length: count }, (_, index) => new SharedComparison({ index, count, memory }, limits));
}

describe('the memory of the bodies of all workers', () => {
  it('has one limit', () => {
    const workers = views(3);
    const bodies = Array.from({ length: 30 }, (_, index) => new KeptBody(workers[index % 3] as SharedComparison, true));
    for (const body of bodies) {
      body.add(Buffer.alloc(MB));
      body.end();
    }
    expect(bodies.filter((body) => body.bytes() !== undefined)).toHaveLength(16);
    expect(workers.map(({ keptBytes }) => keptBytes / MB)).toEqual([6, 5, 5]);
    for (const body of bodies) body.release();
    expect(workers.map(({ keptBytes }) => keptBytes)).toEqual([0, 0, 0]);
  });

  it('has room again after a worker has ended', () => {
    const [main, other] = views(2) as [SharedComparison, SharedComparison];
    expect(other.acquireBytes(16 * MB, 16 * MB)).toBe(true);
    expect(main.acquireBytes(1, 16 * MB)).toBe(false);
    main.forget(1);
    expect([main.acquireBytes(16 * MB, 16 * MB), main.keptBytes, other.keptBytes]).toEqual([true, 16 * MB, 0]);
  });
});

describe('the requests of a worker that has ended', () => {
  it('are known to the main thread, which forgets them', () => {
    const [main, other] = views(2) as [SharedComparison, SharedComparison];
    for (let request = 0; request < 5; request += 1) other.countObserved();
    main.countObserved();
    expect([main.forget(1), main.forget(1), main.forget(0)]).toEqual([5, 0, 1]);
  });
});

describe('the history of rate limits', () => {
  it('is unknown in all workers until the main thread records it', () => {
    const [main, other] = views(2, 2) as [SharedComparison, SharedComparison];
    expect([0, 1].map((limit) => other.mayHaveEarlier(limit, 1_000))).toEqual([true, true]);
    main.recordHistory([true, false], 1_000);
    expect([0, 1].map((limit) => other.mayHaveEarlier(limit, 1_000))).toEqual([true, false]);
    expect([0, 1].map((limit) => other.mayHaveEarlier(limit, 1_001))).toEqual([false, false]);
  });

  it('is incomplete once a worker has not compared a request', () => {
    const [main, other] = views(2) as [SharedComparison, SharedComparison];
    expect([main.hasAllRequests, other.hasAllRequests]).toEqual([true, true]);
    other.markMissingRequests();
    expect([main.hasAllRequests, other.hasAllRequests]).toEqual([false, false]);
  });
});
