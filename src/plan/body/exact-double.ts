/** A number of JSON in its parts: sign, whole digits, fraction, exponent. */
const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Fifteen significant digits survive in every normal double (DBL_DIG of ISO C). */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT = 290;
/** No double has a longer exponent, leading zeros aside. */
const MAX_EXPONENT_DIGITS = 6;

/**
 * True if a double holds the number as it is written, which means that the shortest text of the double has the same
 * digits. `0.1`, `100.50` and every number that was printed from a double pass. `100.00000000000000001` does not: a
 * parser that reads doubles takes it for 100, and a parser that reads decimals for more.
 */
export function isExactDouble(literal: string): boolean {
  const [, , whole, fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  if (whole === undefined) return false;
  const isShort = whole.length + fraction.length <= SAFE_DIGITS;
  if (isShort && Math.abs(Number(exponent)) <= SAFE_EXPONENT) return true;
  const value = Number(literal);
  return Number.isFinite(value) && normalized(literal) === normalized(String(value));
}

/** The significant digits of a number and the place of its point: equal for equal decimals. */
function normalized(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  if (exponent.replace(/^[+-]?0*/, '').length > MAX_EXPONENT_DIGITS) return 'out of range';
  const end = endOfSignificant(digits);
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Not by `/0+$/`, which takes the square of the length of `10…01`. */
function endOfSignificant(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}
