import { charge } from './cost-budget.ts';

/** Of each item and member: its text, its place in a set, its part of the sorting. */
const EFFORT = 20;

/**
 * The keyword `uniqueItems` in linear time: ajv's own compares each item with each, which holds the process for
 * minutes on a list of a hundred thousand objects.
 */
export const UNIQUE_ITEMS = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (mustBe: boolean, items: readonly unknown[]) => !mustBe || areUnique(items),
  error: { message: 'must NOT have duplicate items' },
} as const;

function areUnique(items: readonly unknown[]): boolean {
  const scalars = new Set<unknown>();
  const others = new Set<string>();
  for (const item of items) {
    charge(EFFORT);
    if (item !== null && typeof item === 'object') others.add(canonical(item));
    else scalars.add(item);
  }
  return scalars.size + others.size === items.length;
}

/** One text for equal values: the order of members does not count (JSON Schema, core, section 4.2.2). */
function canonical(value: unknown): string {
  charge(EFFORT + (typeof value === 'string' ? value.length : 0));
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inside]) => `${JSON.stringify(name)}:${canonical(inside)}`);
  return `{${members.sort().join(',')}}`;
}
