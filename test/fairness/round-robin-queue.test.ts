import { describe, expect, test } from 'vitest';
import { RoundRobinQueue } from '../../src/fairness/round-robin-queue.ts';

describe('turns', () => {
  test('go round the keys, and the items of each key keep their order', () => {
    const turns = new RoundRobinQueue<string | undefined, string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) turns.enqueue(item[0], item);
    const order = Array.from({ length: 7 }, () => turns.dequeue());
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  test('pass over a key that may not go, and an item that was deleted', () => {
    const turns = new RoundRobinQueue<string | undefined, string>();
    for (const item of ['a1', 'a2', 'b1', 'b2']) turns.enqueue(item[0], item);
    expect([turns.remove('b', 'b1'), turns.remove('b', 'b1'), turns.remove('c', 'b2')]).toEqual([true, false, false]);
    expect(turns.dequeue((key) => key === 'b')).toBe('b2');
    expect(turns.dequeue((key) => key === 'b')).toBeUndefined();
    expect([turns.next, turns.lastOf('a'), turns.lengthOf('a'), turns.size]).toEqual(['a1', 'a2', 2, 2]);
    expect(turns.dequeue()).toBe('a1');
  });
});
