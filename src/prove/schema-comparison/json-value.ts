export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
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

/** Returns an object with these members. A literal would treat `__proto__` specially. */
export function objectOf(members: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(members);
}
