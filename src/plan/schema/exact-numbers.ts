import type { ErrorObject } from 'ajv/dist/2020.js';
import { INTERNAL_KEYWORDS } from './keywords.ts';

/** The numbers of a value that a double does not hold as they are written. */
export class InexactNumbers {
  /** By what holds them: the names of members, the indexes of items. */
  readonly #held = new Map<object, Set<string>>();

  /** @param holder `TOP` where the value itself is the number */
  add(holder: object, key: string | number): void {
    const keys = this.#held.get(holder) ?? new Set();
    keys.add(String(key));
    this.#held.set(holder, keys);
  }

  has(holder: object, key: string | number): boolean {
    return this.#held.get(holder)?.has(String(key)) === true;
  }

  /** True if one of them stands anywhere inside a list or an object. */
  isNestedIn(value: unknown): boolean {
    if (value === null || typeof value !== 'object') return false;
    return this.#held.has(value) || Object.values(value).some((inside) => this.isNestedIn(inside));
  }
}

/** Stands for what holds a whole value, by the name `''`. */
export const ROOT_HOLDER = {};

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
  currentValidation.violation ??= {
    keyword: INTERNAL_KEYWORDS.exactNumbers,
    schemaPath: '',
    params: {},
    instancePath,
    message,
    parentSchema,
  };
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
