import { charge } from './cost-budget.ts';

/** The cost of each item and member: to print it and to sort it. */
const ITEM_COST = 20;

/** Returns a text that is equal for equal values: the order of members does not count (JSON Schema, core, section 4.2.2). */
export function canonicalJson(value: unknown): string {
  charge(ITEM_COST + (typeof value === 'string' ? value.length : 0));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inside]) => `${JSON.stringify(name)}:${canonicalJson(inside)}`);
  return `{${members.sort().join(',')}}`;
}
