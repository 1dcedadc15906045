import type { Value } from '../manifest/values.ts';
import type { Path } from '../problem/finding.ts';

/** Every string value of a manifest as it was written, before anything was put in. */
export function* stringsOf(value: Value, path: Path = []): Generator<{ readonly text: string; readonly path: Path }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value))
      yield* stringsOf(item as Value, [...path, Array.isArray(value) ? Number(key) : key]);
}
