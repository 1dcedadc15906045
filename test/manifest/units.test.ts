import { describe, expect, test } from 'vitest';
import { durationMs, sizeBytes, timerMs } from '../../src/engine/manifest/units.ts';

describe('durations', () => {
  test.each([
    ['0ms', 0],
    ['250ms', 250],
    ['5s', 5_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['007s', 7_000],
    ['999999999h', 3_599_999_996_400_000],
  ])('%s', (text, expected) => expect(durationMs(text)).toBe(expected));
});

test.each([
  ['5s', 5_000],
  ['596h', 2_145_600_000],
  ['597h', 2_147_483_647],
  ['999999999h', 2_147_483_647],
])('%s is limited to the maximum of a timer', (text, expected) => expect(timerMs(text)).toBe(expected));

describe('sizes', () => {
  test.each([
    ['0B', 0],
    ['512B', 512],
    ['64KB', 65_536],
    ['10MB', 10_485_760],
    ['1GB', 1_073_741_824],
  ])('%s', (text, expected) => expect(sizeBytes(text)).toBe(expected));
});

test.each(['', '5', 's', '5 s', '-5s', '1.5s', '5S', '5s ', '5d', '5KB', '5constructor', '5toString', '\u0665s'])(
  '%j is not a duration',
  (text) => {
    expect(() => durationMs(text)).toThrow(TypeError);
  },
);

test.each(['', '5', 'KB', '5kb', '5s', '1.5MB', '-1B', '5__proto__', '5valueOf'])('%j is not a size', (text) => {
  expect(() => sizeBytes(text)).toThrow(TypeError);
});
