import { describe, expect, test } from 'vitest';
import { Turns } from '../../src/fairness/turns.ts';

describe('turns', () => {
  test('go round the keys, and the items of each key keep their order', () => {
    const turns = new Turns<string | undefined, string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) turns.add(item[0], item);
    const order = Array.from({ length: 7 }, () => turns.take());
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  test('pass over a key that may not go, and an item that was deleted', () => {
    const turns = new Turns<string | undefined, string>();
    for (const item of ['a1', 'a2', 'b1', 'b2']) turns.add(item[0], item);
    expect([turns.delete('b', 'b1'), turns.delete('b', 'b1'), turns.delete('c', 'b2')]).toEqual([true, false, false]);
    expect(turns.take((key) => key === 'b')).toBe('b2');
    expect(turns.take((key) => key === 'b')).toBeUndefined();
    expect([turns.next, turns.latestOf('a'), turns.lengthOf('a'), turns.size]).toEqual(['a1', 'a2', 2, 2]);
    expect(turns.take()).toBe('a1');
  });
});
