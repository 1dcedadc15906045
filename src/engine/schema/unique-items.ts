import { canonicalJson } from './canonical-json.ts';
import { charge } from './cost-budget.ts';

/** The cost of each item and member: to print it, sort it and add it to a set. */
const ITEM_COST = 20;

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
    if (item !== null && typeof item === 'object') others.add(canonicalJson(item));
    else scalars.add(item);
  }
  return scalars.size + others.size === items.length;
}
