import type { ErrorObject } from 'ajv/dist/2020.js';
import { getOrCreate } from '../get-or-create.ts';
import { INTERNAL_KEYWORDS } from './keywords.ts';

/** The numbers in a value that a double cannot represent exactly. */
export class InexactNumbers {
  /** The names of members or indexes of items, by the object or list that contains them. */
  readonly #keysByHolder = new Map<object, Set<string>>();

  /** @param holder `ROOT_HOLDER` if the value itself is the number */
  add(holder: object, key: string | number): void {
    getOrCreate(this.#keysByHolder, holder, () => new Set<string>()).add(String(key));
  }

  has(holder: object, key: string | number): boolean {
    return this.#keysByHolder.get(holder)?.has(String(key)) === true;
  }

  /** True if a list or an object contains an inexact number at any depth. */
  isNestedIn(value: unknown): boolean {
    if (value === null || typeof value !== 'object') return false;
    return this.#keysByHolder.has(value) || Object.values(value).some((inside) => this.isNestedIn(inside));
  }
}

/** Represents the holder of the root value, whose key is `''`. */
export const ROOT_HOLDER = {};

export interface NumberComparison {
  readonly isIntegerOnly: boolean;
  /** True if the schema compares complete lists and objects. */
  readonly hasNestedNumbers: boolean;
}

/** The state of the running validation; validations are synchronous. */
export const currentValidation: { inexact: InexactNumbers | undefined; violation: ErrorObject | undefined } = {
  inexact: undefined,
  violation: undefined,
};

/** Notes a number that the upstream could read as a different one than the gateway validates. */
export function noteInexactNumber(
  compared: NumberComparison,
  value: unknown,
  holder: object,
  key: string | number,
  instancePath: string,
  parentSchema: NonNullable<ErrorObject['parentSchema']>,
): void {
  const { inexact } = currentValidation;
  const isInexact =
    typeof value === 'number' ? inexact?.has(holder, key) : compared.hasNestedNumbers && inexact?.isNestedIn(value);
  const message =
    isInexact === true ? TOO_PRECISE : compared.isIntegerOnly && isUnsafeInteger(value) ? TOO_LARGE : undefined;
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

/** True if most parsers cannot tell the integer from its neighbours (RFC 8259 section 6), and the upstream could read another one. */
function isUnsafeInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const TOO_LARGE = 'must be an integer between -2^53 and 2^53';
const TOO_PRECISE = 'has more digits than a number of double precision holds';
