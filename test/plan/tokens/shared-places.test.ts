import { describe, expect, test } from 'vitest';
import { ClientQueue } from '../../../src/plan/tokens/client-queue.ts';
import { SharedPlaces } from '../../../src/plan/tokens/shared-places.ts';

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

describe('a fair queue', () => {
  test('serves the clients in turn, and the items of each in order', () => {
    const queue = new ClientQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item[0], item);
    const order = Array.from({ length: 7 }, () => queue.next(() => true));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  test('passes over a client that may not go, and forgets an item that left', () => {
    const queue = new ClientQueue<string>();
    for (const item of ['a1', 'a2', 'b1', 'b2']) queue.add(item[0], item);
    queue.delete('b', 'b1');
    expect(queue.next((client) => client === 'b')).toBe('b2');
    expect(queue.next((client) => client === 'b')).toBeUndefined();
    expect(queue.next(() => true)).toBe('a1');
  });
});
