import { describe, expect, test } from 'vitest';
import { RoundRobinQueue } from '../../src/engine/gateway/fairness/round-robin-queue.ts';

describe('RoundRobinQueue', () => {
  test('rotates the keys and keeps the order of the items of each key', () => {
    const queue = new RoundRobinQueue<string | undefined, string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.enqueue(item[0], item);
    const order = Array.from({ length: 7 }, () => queue.dequeue());
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  test('skips a key that is not eligible and a removed item', () => {
    const queue = new RoundRobinQueue<string | undefined, string>();
    for (const item of ['a1', 'a2', 'b1', 'b2']) queue.enqueue(item[0], item);
    expect([queue.remove('b', 'b1'), queue.remove('b', 'b1'), queue.remove('c', 'b2')]).toEqual([true, false, false]);
    expect(queue.dequeue((key) => key === 'b')).toBe('b2');
    expect(queue.dequeue((key) => key === 'b')).toBeUndefined();
    expect([queue.next, [...(queue.longestLine ?? [])], queue.lengthOf('a'), queue.size]).toEqual([
      'a1',
      ['a1', 'a2'],
      2,
      2,
    ]);
    expect(queue.dequeue()).toBe('a1');
  });
});
