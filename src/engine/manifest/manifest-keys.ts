import { keys } from './validate.generated.ts';

/** The top-level keys that included files may have. Their members are merged, and checked and compiled one by one. */
export const MERGED_KEYS = ['upstreams', 'schemas', 'rateLimits', 'routes'] as const;

/** Returns true for a top-level key of the schema. */
export function isManifestKey(key: string): boolean {
  return keys.includes(key);
}

export function isMergedKey(key: string): boolean {
  return MERGED_KEYS.some((merged) => merged === key);
}

/** Returns true for a top-level key that nothing reads: YAML anchors have their place there. */
export function isIgnoredKey(key: string): boolean {
  return key.startsWith('x-');
}
