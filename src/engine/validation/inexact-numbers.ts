import { charge } from '../schema/cost-budget.ts';
import { InexactNumbers, ROOT_HOLDER } from '../schema/exact-numbers.ts';
import { endOfString, isMemberName } from './json-scan.ts';

/** Returns the inexact numbers of a value that is itself a number, such as a parameter. */
export function inexactScalar(text: string): InexactNumbers | undefined {
  if (isExactDouble(text)) return undefined;
  const numbers = new InexactNumbers();
  numbers.add(ROOT_HOLDER, '');
  return numbers;
}

/** The cost of each number: it is printed once, and two texts are compared. */
const NUMBER_COST = 150;
const QUOTE = 0x22;
const COMMA = 0x2c;

/** Finds which long numbers of a JSON text, at these ranges, are inexact, and the objects and lists of its value that contain them. */
export function findInexactNumbers(bytes: Buffer, ranges: readonly number[], value: unknown) {
  const starts = new Set<number>();
  for (let index = 0; index < ranges.length; index += 2) {
    const [start, end] = [ranges[index] as number, ranges[index + 1] as number];
    charge(NUMBER_COST + end - start);
    if (!isExactDouble(bytes.toString('latin1', start, end))) starts.add(start);
  }
  return starts.size === 0 ? undefined : locate(bytes, starts, value);
}

/** An open object or list of the text. */
interface Level {
  readonly holder: Record<string | number, unknown>;
  /** The index of the current item, in a list. */
  index: number | undefined;
  /** Start and end of the current member's name, quotes included, in an object. */
  name: readonly [number, number];
}

/** Walks the text and its value in parallel. The text is valid JSON without duplicate names. */
function locate(bytes: Buffer, starts: ReadonlySet<number>, value: unknown): InexactNumbers {
  const numbers = new InexactNumbers();
  const levels: Level[] = [];
  const keyIn = ({ index, name }: Level): string | number => index ?? JSON.parse(bytes.toString('utf8', ...name));
  for (let index = 0; index < bytes.length; index += 1) {
    const level = levels.at(-1);
    const byte = bytes[index] as number;
    // Brackets differ from braces in one bit.
    const bracket = byte | 0x20;
    if (bracket === 0x7b) {
      const inside = level === undefined ? value : level.holder[keyIn(level)];
      levels.push({ holder: inside as Level['holder'], index: byte === 0x5b ? 0 : undefined, name: [0, 0] });
    } else if (bracket === 0x7d) levels.pop();
    else if (byte === COMMA && level?.index !== undefined) level.index += 1;
    else if (byte === QUOTE) {
      const end = endOfString(bytes, index);
      if (level !== undefined && isMemberName(bytes, end)) level.name = [index, end + 1];
      index = end;
    } else if (byte > COMMA && starts.has(index)) {
      if (level === undefined) numbers.add(ROOT_HOLDER, '');
      else numbers.add(level.holder, keyIn(level));
    }
  }
  return numbers;
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
