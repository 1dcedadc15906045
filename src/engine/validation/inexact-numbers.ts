import { charge } from '../schema/cost-budget.ts';
import { InexactNumbers, ROOT_HOLDER } from '../schema/exact-numbers.ts';

/** Returns the inexact numbers of a value that is itself a number, such as a parameter. */
export function inexactScalar(text: string): InexactNumbers | undefined {
  if (isExactDouble(text)) return undefined;
  const numbers = new InexactNumbers();
  numbers.add(ROOT_HOLDER, '');
  return numbers;
}

/** The cost of each number: it is printed once, and two texts are compared. */
const NUMBER_COST = 150;
/** The cost of each character for a parser that hands over every value. */
const READ_COST = 5;

/** True if a double cannot represent some of the numbers at these ranges of a JSON text. */
export function hasInexactNumber(bytes: Buffer, ranges: readonly number[]): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    const [start, end] = [ranges[index] as number, ranges[index + 1] as number];
    charge(NUMBER_COST + end - start);
    if (!isExactDouble(bytes.toString('latin1', start, end))) return true;
  }
  return false;
}

/** Parses valid JSON without duplicate names, and finds the numbers in it that a double cannot represent. */
export function parseInexactNumbers(text: string): { readonly value: unknown; readonly inexact: InexactNumbers } {
  charge(READ_COST * text.length);
  const inexact = new InexactNumbers();
  // The third parameter is newer than the type of the reviver.
  const note = function (this: object, key: string, inside: unknown, context?: { readonly source?: string }) {
    if (typeof inside === 'number' && !isExactDouble(context?.source ?? '')) inexact.add(this, key);
    return inside;
  };
  const value: unknown = JSON.parse(text, note);
  if (typeof value === 'number') inexact.add(ROOT_HOLDER, '');
  return { value, inexact };
}

/** The parts of a JSON number: sign, integer digits, fraction, exponent. */
const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Fifteen significant digits survive in every normal double (DBL_DIG of ISO C). */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT = 290;
/** No double has a longer exponent, apart from leading zeros. */
const MAX_EXPONENT_DIGITS = 6;

/**
 * True if a double represents the number exactly as written: the shortest text of the double has the same digits.
 * `0.1`, `100.50` and every number that was printed from a double pass. `100.00000000000000001` does not: a parser that
 * uses doubles reads 100, and a parser that uses decimals reads more.
 */
export function isExactDouble(literal: string): boolean {
  const [, , integer, fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  if (integer === undefined) return false;
  const isShort = integer.length + fraction.length <= SAFE_DIGITS;
  if (isShort && Math.abs(Number(exponent)) <= SAFE_EXPONENT) return true;
  const value = Number(literal);
  return Number.isFinite(value) && normalize(literal) === normalize(String(value));
}

/** Returns the significant digits and the exponent of a number as a text that is equal for equal decimals. */
function normalize(literal: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  const digits = (integer + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  if (exponent.replace(/^[+-]?0*/, '').length > MAX_EXPONENT_DIGITS) return 'out of range';
  const end = significantLength(digits);
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Counts the digits without trailing zeros. The pattern `/0+$/` would take time quadratic in the length of `10…01`. */
function significantLength(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}
