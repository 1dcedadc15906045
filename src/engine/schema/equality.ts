import { canonicalJson, charge, ITEM_COST } from './cost-budget.ts';

/**
 * The keyword `uniqueItems` in linear time. ajv compares every pair of items, which blocks the process for minutes if a
 * list has a hundred thousand objects.
 */
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

/**
 * The keyword `const`. ajv compares objects by calling their `toString` and `constructor`, which a client may have sent as
 * members: the comparison then throws, or is wrong.
 */
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
