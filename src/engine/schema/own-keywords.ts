import { sizeBytes } from '../manifest/units.ts';
import { canonicalJson, charge, ITEM_COST } from './cost-budget.ts';
import { DATE_FORMATS, ISO_FORMATS } from './formats/date-formats.ts';
import { HOST_FORMATS } from './formats/host-formats.ts';
import { URI_FORMATS } from './formats/uri-formats.ts';

/** The keyword `uniqueItems` in linear time. ajv compares every pair, which takes minutes for a hundred thousand objects. */
export const UNIQUE_ITEMS = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isRequired: boolean, items: readonly unknown[]) => !isRequired || areUnique(items),
  error: { message: 'must NOT have duplicate items' },
} as const;

function areUnique(items: readonly unknown[]): boolean {
  const scalars = new Set<unknown>();
  const others = new Set<string>();
  for (const item of items) {
    charge(ITEM_COST);
    if (isHolder(item)) others.add(canonicalJson(item));
    else scalars.add(item);
  }
  return scalars.size + others.size === items.length;
}

/** The keyword `const`. ajv calls `toString` and `constructor` of objects, which a client may have sent as members. */
export const CONST = {
  keyword: 'const',
  compile: (value: unknown) => createValueSet([value]),
  error: { message: 'must be the one allowed value' },
} as const;

/** The keyword `enum`, for the same reason. */
export const ENUM = {
  keyword: 'enum',
  schemaType: 'array',
  compile: (values: readonly unknown[]) => createValueSet(values),
  error: { message: 'must be one of the allowed values' },
} as const;

/** Returns a function that is true for values that are equal to one in the list. */
function createValueSet(values: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(values.filter((value) => !isHolder(value)));
  const holders = new Set(values.filter(isHolder).map(canonicalJson));
  return (value) => (isHolder(value) ? holders.size > 0 && holders.has(canonicalJson(value)) : scalars.has(value));
}

/** True for lists and objects. */
function isHolder(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

/** The cost of a division of numbers that are not both safe integers. */
const DIVISION_COST = 100;

/** The keyword `multipleOf` in decimals, as doubles print. ajv divides doubles, so that 0.07 is not a multiple of 0.01. */
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
function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(integer + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * The keyword `contentEncoding: base64`. JSON Schema treats it as an annotation; here it validates alphabet, padding and
 * zero bits after the last byte (RFC 4648 sections 3.5 and 4), so that every decoder reads the same bytes. It does not decode.
 */
export const CONTENT_ENCODING = {
  keyword: 'contentEncoding',
  type: 'string',
  schemaType: 'string',
  validate: (_encoding: string, text: string) => isBase64(text),
  error: { message: 'must be base64, padded, without line breaks' },
} as const;

/** The keyword `contentMaxBytes: 5MB`: the maximum size of the decoded base64 text. */
export const CONTENT_MAX_BYTES = {
  keyword: 'contentMaxBytes',
  type: 'string',
  schemaType: 'string',
  compile: (size: string) => {
    const limitBytes = sizeBytes(size);
    return (text: string) => Math.floor((text.length / 4) * 3) - paddingOf(text) <= limitBytes;
  },
} as const;

const FOREIGN = /[^A-Za-z0-9+/]/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function isBase64(text: string): boolean {
  const padding = paddingOf(text);
  const end = text.length - padding;
  if (text.length % 4 !== 0 || FOREIGN.test(text.slice(0, end))) return false;
  const unused = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0;
  return (ALPHABET.indexOf(text.charAt(end - 1)) & unused) === 0;
}

function paddingOf(text: string): number {
  if (!text.endsWith('=')) return 0;
  return text.endsWith('==') ? 2 : 1;
}

/** The keywords that replace those of ajv, which are wrong, slow, or validate nothing. */
export const REPLACED_KEYWORDS = [CONST, ENUM, UNIQUE_ITEMS, MULTIPLE_OF, CONTENT_ENCODING] as const;

/** The formats of strings: those of JSON Schema (validation, section 7.3), and three more. Each takes linear time. */
export const TEXT_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  ...DATE_FORMATS,
  ...HOST_FORMATS,
  ...URI_FORMATS,
  ...ISO_FORMATS,
};

/** The formats of numbers, of the OpenAPI format registry. */
export const NUMBER_FORMATS: Readonly<Record<string, (number: number) => boolean>> = {
  int32: (number) => Number.isInteger(number) && number >= -(2 ** 31) && number < 2 ** 31,
  int64: (number) => Number.isInteger(number) && number >= -(2 ** 63) && number < 2 ** 63,
};

export function containsNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return value !== null && typeof value === 'object' && Object.values(value).some(containsNumber);
}
