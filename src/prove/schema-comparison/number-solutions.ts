import { toList } from './json-value.ts';
import { literalsOf, type SchemaLiteral } from './schema-terms.ts';

/** Numbers that parsers read differently, or that formats and `integer` treat specially. */
const SPECIAL = [0.25, 1e-3, -1e-3, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e300];
const STEPS = [0, 1, -1, 0.5, -0.5, 2, -2, 0.001, -0.001];
/** The number of multiples to try at each bound. */
const MULTIPLES = 6;
/** The bounds to try at each end. */
const MAX_EXTREMES = 10;

/** Yields numbers near the limits of the literals, the simplest first. The caller tests them. */
export function numberSolutions(literals: readonly SchemaLiteral[], wanted: number): number[] {
  const found = new Set<number>([0, 1, -1, 0.5, 2, -0.5, 1.5, 3, ...SPECIAL]);
  const allBounds: number[] = [0];
  const allDivisors: number[] = [];
  for (const { keyword, value } of literalsOf(literals, 'keyword')) {
    if (keyword === 'enum') allBounds.push(...toList(value).filter((one) => typeof one === 'number'));
    else if (keyword === 'multipleOf') allDivisors.push(Number(value));
    else if (typeof value === 'number') allBounds.push(value);
  }
  const bounds = extremesOf(allBounds);
  const divisors = [...new Set(allDivisors)];
  for (const bound of bounds) for (const step of STEPS) found.add(rounded(bound + step));
  for (const low of bounds) for (const high of bounds) if (low < high) found.add((low + high) / 2);
  const units = [...extremesOf(divisors), ...(wanted > MULTIPLES ? [1] : [])];
  for (const unit of units)
    for (const bound of bounds)
      for (let count = 0; count <= Math.max(MULTIPLES, wanted); count += 1)
        for (const sign of [1, -1]) found.add(rounded(unit * (Math.floor(bound / unit) + sign * count)));
  return [...found].filter(Number.isFinite).sort(bySimplicity);
}

/** Removes the error of doubles from a sum or a product: 0.1 and 0.2 are 0.3. */
function rounded(number: number): number {
  return Number(number.toPrecision(15));
}

/** Returns the lowest and the highest numbers: the values around the others are rarely needed, and there may be thousands. */
function extremesOf(numbers: readonly number[]): readonly number[] {
  const distinct = [...new Set(numbers)];
  if (distinct.length <= 2 * MAX_EXTREMES) return distinct;
  const sorted = distinct.sort((one, other) => one - other);
  return [...sorted.slice(0, MAX_EXTREMES), ...sorted.slice(-MAX_EXTREMES)];
}

function bySimplicity(one: number, other: number): number {
  return (
    String(Math.abs(one)).length - String(Math.abs(other)).length || Math.abs(one) - Math.abs(other) || other - one
  );
}
