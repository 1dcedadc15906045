import type { ErrorObject } from 'ajv/dist/2020.js';
import type { InexactNumbers } from './inexact-numbers.ts';

/** Goes with a schema that compares numbers. */
export interface Compared {
  /** Only integers fit. */
  readonly integers: boolean;
  /** It compares whole lists and objects. */
  readonly insides: boolean;
}

/** The validation that runs now; validations are synchronous. */
export const numbers: { inexact: InexactNumbers | undefined; violation: ErrorObject | undefined } = {
  inexact: undefined,
  violation: undefined,
};

/** Notes a number that the upstream could read as another one than the gateway compares with the schema. */
export function look(
  compared: Compared,
  value: unknown,
  holder: object,
  key: string | number,
  instancePath: string,
  parentSchema: NonNullable<ErrorObject['parentSchema']>,
): void {
  const { inexact } = numbers;
  const isCut = typeof value === 'number' ? inexact?.has(holder, key) : compared.insides && inexact?.isInside(value);
  const message = isCut === true ? CUT : compared.integers && isBeyond(value) ? BEYOND : undefined;
  if (message === undefined) return;
  numbers.violation ??= { keyword: 'exact', schemaPath: '', params: {}, instancePath, message, parentSchema };
}

/**
 * Beyond 2^53 two integers that differ in the text are one number to most parsers (RFC 8259 section 6), so the upstream
 * could read another one than was validated.
 */
function isBeyond(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const BEYOND = 'must be an integer between -2^53 and 2^53';
const CUT = 'has more digits than a number of double precision holds';
