import type { SchemaRoot } from '../../plan/schema/schema-bundle.ts';
import type { ValueValidator } from '../../plan/schema/value-validator.ts';
import type { Path } from '../../problem/finding.ts';
import { normalizeSchema } from './normalize-schema.ts';
import { sampleValues } from './sample-values.ts';

/** A schema with its location. */
export interface SchemaLocation {
  readonly side: 'old' | 'new';
  readonly root: SchemaRoot;
  readonly path: Path;
  /** Returns a validator for a schema of the root. */
  readonly validatorAt: (path: Path) => ValueValidator;
}

/** The differences of two schemas, each with the smallest sample value that shows it. */
export interface SchemaComparison {
  /** True if the schemas are equal after normalization. */
  readonly isSame: boolean;
  /** A value that only the new schema accepts. */
  readonly looser: { readonly value: unknown } | undefined;
  /** A value that only the old schema accepts. */
  readonly tighter: { readonly value: unknown } | undefined;
}

/** Compares two schemas by sample values of both. Differences that no sample reaches remain undetected. */
export function compareSchemas(old: SchemaLocation, next: SchemaLocation): SchemaComparison {
  if (normalizeSchema(old.root, old.path) === normalizeSchema(next.root, next.path))
    return { isSame: true, looser: undefined, tighter: undefined };
  const [validateOld, validateNext] = [old, next].map(({ path, validatorAt }) => validatorAt(path)) as [
    ValueValidator,
    ValueValidator,
  ];
  let looser: SchemaComparison['looser'];
  let tighter: SchemaComparison['tighter'];
  for (const value of sampleValues([old, next]).toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const [before, now] = [validateOld(value, 0).length === 0, validateNext(value, 0).length === 0];
    if (now && !before) looser ??= { value };
    if (before && !now) tighter ??= { value };
  }
  return { isSame: false, looser, tighter };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
