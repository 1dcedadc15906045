export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

export function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

/** Returns an object with these members. A literal would treat `__proto__` specially. */
export function objectOf(members: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(members);
}
