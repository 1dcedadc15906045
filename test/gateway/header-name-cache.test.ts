import { expect, test } from 'vitest';
import { HeaderNameCache } from '../../src/engine/gateway/upstream/proxy-headers.ts';

test('keeps names that are in use and limits the number of all others', () => {
  const names = new HeaderNameCache<number>();
  names.set('Host', 1);
  names.set('Accept', 2);
  for (let index = 0; index < 50_000; index += 1) {
    names.set(`X-${index}`, index);
    expect(names.size).toBeLessThanOrEqual(2_000);
    if (index % 500 === 0) expect([names.get('Host'), names.get('Accept')]).toEqual([1, 2]);
  }
  expect(names.get('X-49999')).toBe(49_999);
  expect(names.get('X-1')).toBeUndefined();
});

test('caches a new name after any number of others', () => {
  const names = new HeaderNameCache<number>();
  for (let index = 0; index < 5_000; index += 1) names.set(`X-${index}`, index);
  names.set('Authorization', 7);
  expect(names.get('Authorization')).toBe(7);
});

test('does not cache a long name', () => {
  const names = new HeaderNameCache<number>();
  names.set('X'.repeat(65), 1);
  expect([names.get('X'.repeat(65)), names.size]).toEqual([undefined, 0]);
});
