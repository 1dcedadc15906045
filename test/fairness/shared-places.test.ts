import { describe, expect, test } from 'vitest';
import { SharedPlaces } from '../../src/fairness/shared-places.ts';

describe('places that clients share', () => {
  test('one client holds half of them at most, and the next one half of the rest', () => {
    const places = new SharedPlaces(32);
    const taken = (client: string) => {
      let count = 0;
      while (places.take(client)) count += 1;
      return count;
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(taken)).toEqual([16, 8, 4, 2, 1, 1]);
    places.release('a');
    expect([places.take('a'), places.take('g')]).toEqual([false, true]);
  });

  test('the gateway itself may hold all of them', () => {
    const places = new SharedPlaces(2);
    expect([undefined, undefined, undefined].map((client) => places.take(client))).toEqual([true, true, false]);
    places.release(undefined);
    expect(places.take('a')).toBe(true);
  });
});
