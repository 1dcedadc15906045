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
