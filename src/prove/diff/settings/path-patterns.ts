import type { Path } from '../../../engine/problem/finding.ts';

/** The keys of a path in the manifest, each with its alternatives. `*` stands for any key. */
export type PathPattern = readonly (readonly string[])[];

/** Parses a pattern such as `auth tokens * issuer|audience`. */
export function parsePathPattern(text: string): PathPattern {
  return text
    .split(' ')
    .filter(Boolean)
    .map((key) => key.split('|'));
}

/** True if a path begins with the keys of a pattern. */
export function startsWith(path: Path, pattern: PathPattern): boolean {
  return pattern.every((keys, index) => keys[0] === '*' || keys.includes(String(path[index])));
}
