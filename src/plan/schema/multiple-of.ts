import { charge } from './cost-budget.ts';

/** Of one that is no small integer. */
const EFFORT = 100;

/**
 * The keyword `multipleOf` in decimal arithmetic: ajv's own divides doubles, to which 0.07 is no multiple of 0.01.
 * A number stands for the shortest decimal that its double prints as.
 */
export const MULTIPLE_OF = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  compile: (divisor: number) => {
    const unit = toDecimal(divisor);
    return (value: number) => (isPlain(value) && isPlain(divisor) ? value % divisor === 0 : isMultiple(value, unit));
  },
} as const;

/** The digits of a number, and the power of ten that they count. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function isPlain(value: number): boolean {
  return Number.isSafeInteger(value);
}

function isMultiple(value: number, unit: Decimal): boolean {
  charge(EFFORT);
  const { digits, exponent } = toDecimal(value);
  const least = Math.min(exponent, unit.exponent);
  return scaled(digits, exponent - least) % scaled(unit.digits, unit.exponent - least) === 0n;
}

function scaled(digits: bigint, power: number): bigint {
  return digits * 10n ** BigInt(power);
}

function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
