import type { ErrorObject } from 'ajv/dist/2020.js';
import type { InexactNumbers } from '../body/inexact-numbers.ts';

/** Goes with a schema that compares numbers. */
export interface NumberComparison {
  /** Only integers fit. */
  readonly isIntegerOnly: boolean;
  /** It compares whole lists and objects. */
  readonly hasNestedNumbers: boolean;
}

/** The validation that runs now; validations are synchronous. */
export const currentValidation: { inexact: InexactNumbers | undefined; violation: ErrorObject | undefined } = {
  inexact: undefined,
  violation: undefined,
};

/** Notes a number that the upstream could read as another one than the gateway compares with the schema. */
export function noteInexactNumber(
  compared: NumberComparison,
  value: unknown,
  holder: object,
  key: string | number,
  instancePath: string,
  parentSchema: NonNullable<ErrorObject['parentSchema']>,
): void {
  const { inexact } = currentValidation;
  const isCut =
    typeof value === 'number' ? inexact?.has(holder, key) : compared.hasNestedNumbers && inexact?.isNestedIn(value);
  const message = isCut === true ? CUT : compared.isIntegerOnly && isUnsafeInteger(value) ? BEYOND : undefined;
  if (message === undefined) return;
  currentValidation.violation ??= { keyword: 'exact', schemaPath: '', params: {}, instancePath, message, parentSchema };
}

/**
 * Beyond 2^53 two integers that differ in the text are one number to most parsers (RFC 8259 section 6), so the upstream
 * could read another one than was validated.
 */
function isUnsafeInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const BEYOND = 'must be an integer between -2^53 and 2^53';
const CUT = 'has more digits than a number of double precision holds';
