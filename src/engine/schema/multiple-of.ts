import { charge } from './cost-budget.ts';

/** The cost of a division of numbers that are not both safe integers. */
const DIVISION_COST = 100;

/**
 * The keyword `multipleOf` in decimal arithmetic. ajv divides doubles, so that 0.07 is not a multiple of 0.01. Each
 * number is the shortest decimal that its double prints as.
 */
export const MULTIPLE_OF = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  compile: (divisor: number) => {
    const unit = toDecimal(divisor);
    return (value: number) => (isSafe(value) && isSafe(divisor) ? value % divisor === 0 : isMultiple(value, unit));
  },
} as const;

/** The digits of a number and their power of ten. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function isSafe(value: number): boolean {
  return Number.isSafeInteger(value);
}

function isMultiple(value: number, unit: Decimal): boolean {
  charge(DIVISION_COST);
  const { digits, exponent } = toDecimal(value);
  const minExponent = Math.min(exponent, unit.exponent);
  return scaled(digits, exponent - minExponent) % scaled(unit.digits, unit.exponent - minExponent) === 0n;
}

function scaled(digits: bigint, power: number): bigint {
  return digits * 10n ** BigInt(power);
}

/** Returns the shortest decimal that a number prints as. */
export function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(integer + fraction), exponent: Number(exponent) - fraction.length };
}
