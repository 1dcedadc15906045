import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

export function hasType(value: unknown, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : jsonTypeOf(value) === type;
}

/** Returns the map; an empty one for other values. */
export function toMap(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}

/** Returns the list; an empty one for other values. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns each of some equal values once. */
export function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

export function sortedByText<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => [canonicalJson(value), value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => value);
}

export function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

/** Counts a value and all members and items in it, at most up to a number above `limit`. */
export function countParts(value: unknown, limit: number): number {
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const inside of Object.values(value)) {
    count += countParts(inside, limit - count);
    if (count > limit) break;
  }
  return count;
}
