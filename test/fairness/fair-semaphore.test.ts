import { describe, expect, test } from 'vitest';
import { FairSemaphore } from '../../src/fairness/fair-semaphore.ts';

describe('places that clients share', () => {
  test('one client holds half of them at most, and the next one half of the rest', () => {
    const places = new FairSemaphore(32);
    const taken = (client: string) => {
      let count = 0;
      while (places.tryAcquire(client)) count += 1;
      return count;
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(taken)).toEqual([16, 8, 4, 2, 1, 1]);
    places.release('a');
    expect([places.tryAcquire('a'), places.tryAcquire('g')]).toEqual([false, true]);
  });

  test('the gateway itself may hold all of them', () => {
    const places = new FairSemaphore(2);
    expect([undefined, undefined, undefined].map((client) => places.tryAcquire(client))).toEqual([true, true, false]);
    places.release(undefined);
    expect(places.tryAcquire('a')).toBe(true);
  });
});
