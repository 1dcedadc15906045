import type { YamlValue } from '../manifest/yaml-values.ts';
import type { Path } from '../problem/finding.ts';

/** Yields every string of a manifest as written, before substitution. */
export function* stringValues(
  value: YamlValue,
  path: Path = [],
): Generator<{ readonly text: string; readonly path: Path }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value))
      yield* stringValues(item as YamlValue, [...path, Array.isArray(value) ? Number(key) : key]);
}
