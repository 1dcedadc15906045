import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExactDouble } from '../../../src/engine/validation/inexact-numbers.ts';
import { cpuMs } from '../../support/cpu-time.ts';

test.each([
  '0',
  '-0',
  '-0.0',
  '0e999999999',
  '0.1',
  '1.10',
  '100.50',
  '1e2',
  '1E+2',
  '100000000000000000000',
  '0.30000000000000004',
  '1e23',
  '5e-324',
  '2.2250738585072014e-308',
  '1.7976931348623157e308',
  '9007199254740992',
  '1e00000000000002',
  `1${'0'.repeat(300)}`,
  `0.${'0'.repeat(300)}1`,
])('%s is an exact double', (text) => expect(isExactDouble(text)).toBe(true));

test.each([
  '100.00000000000000001',
  '9007199254740993',
  '123456789012345678',
  '0.1000000000000000055511151231257827',
  '1e-400',
  '1e400',
  '3.14159265358979323846',
  `1${'0'.repeat(400)}`,
  `1e${'9'.repeat(1_000)}`,
  '2e-324',
  `0.${'0'.repeat(400)}1`,
])('%s is not an exact double', (text) => expect(isExactDouble(text)).toBe(false));

describe('the text of any double', () => {
  const doubles = fc.double({ noNaN: true, noDefaultInfinity: true });

  test('is exact as printed, with trailing zeros, and with another exponent', () => {
    fc.assert(
      fc.property(doubles, fc.integer({ min: -30, max: 30 }), (value, shift) => {
        expect(isExactDouble(String(value))).toBe(true);
        expect(isExactDouble(value.toExponential())).toBe(true);
        const [mantissa = '', exponent] = value.toExponential().split('e');
        const padded = `${mantissa}${mantissa.includes('.') ? '' : '.'}${'0'.repeat(20)}`;
        expect(isExactDouble(`${padded}e${exponent}`)).toBe(true);
        const digits = mantissa.replace('-', '').replace('.', '');
        const sign = mantissa.startsWith('-') ? '-' : '';
        const moved = `${sign}0.${'0'.repeat(Math.abs(shift))}${digits}e${Number(exponent) + 1 + Math.abs(shift)}`;
        expect(isExactDouble(moved)).toBe(true);
      }),
    );
  });

  test('is not exact with additional digits', () => {
    fc.assert(
      fc.property(doubles, fc.integer({ min: 1, max: 9 }), (value, digit) => {
        fc.pre(value !== 0);
        const [mantissa = '', exponent] = value.toExponential().split('e');
        const longer = `${mantissa}${mantissa.includes('.') ? '' : '.'}${'0'.repeat(20)}${digit}`;
        expect(isExactDouble(`${longer}e${exponent}`)).toBe(false);
      }),
    );
  });

  test('is checked in linear time', () => {
    const start = cpuMs();
    for (const text of [`1${'0'.repeat(1_000_000)}1`, `0.${'0'.repeat(1_000_000)}1`, `${'9'.repeat(1_000_000)}e1`])
      isExactDouble(text);
    expect(cpuMs() - start).toBeLessThan(2_000);
  });
});
