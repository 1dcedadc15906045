import { describe, expect, test } from 'vitest';
import { FairSemaphore } from '../../src/engine/gateway/fairness/fair-semaphore.ts';

describe('FairSemaphore', () => {
  test('gives one client at most half of the slots, and the next one half of the rest', () => {
    const semaphore = new FairSemaphore(32);
    const acquireAll = (client: string) => {
      let count = 0;
      while (semaphore.tryAcquire(client)) count += 1;
      return count;
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(acquireAll)).toEqual([16, 8, 4, 2, 1, 1]);
    semaphore.release('a');
    expect([semaphore.tryAcquire('a'), semaphore.tryAcquire('g')]).toEqual([false, true]);
  });

  test('lets the gateway itself hold all slots', () => {
    const semaphore = new FairSemaphore(2);
    expect([undefined, undefined, undefined].map((client) => semaphore.tryAcquire(client))).toEqual([
      true,
      true,
      false,
    ]);
    semaphore.release(undefined);
    expect(semaphore.tryAcquire('a')).toBe(true);
  });
});
