import type { SchemaRoot } from '../../plan/schema/schema-bundle.ts';
import type { ValueValidator } from '../../plan/schema/value-validator.ts';
import type { Path } from '../../problem/finding.ts';
import { normalizeSchema } from './normalize-schema.ts';
import { sampleValues } from './sample-values.ts';

/** A schema where it stands. */
export interface SchemaLocation {
  readonly side: 'old' | 'new';
  readonly root: SchemaRoot;
  readonly path: Path;
  /** Of the schemas in the root. */
  readonly validatorAt: (path: Path) => ValueValidator;
}

/** How two schemas differ, each with the smallest value that was found to show it. */
export interface SchemaComparison {
  /** They say the same in the same words. */
  readonly isSame: boolean;
  /** Fits the new one alone. */
  readonly looser: { readonly value: unknown } | undefined;
  /** Fitted the old one alone. */
  readonly tighter: { readonly value: unknown } | undefined;
}

/** Compares schemas by values that are made of both: what both judge alike may be judged otherwise beyond them. */
export function compareSchemas(old: SchemaLocation, next: SchemaLocation): SchemaComparison {
  if (normalizeSchema(old.root, old.path) === normalizeSchema(next.root, next.path))
    return { isSame: true, looser: undefined, tighter: undefined };
  const [fitted, fits] = [old, next].map(({ path, validatorAt }) => validatorAt(path)) as [
    ValueValidator,
    ValueValidator,
  ];
  let looser: SchemaComparison['looser'];
  let tighter: SchemaComparison['tighter'];
  for (const value of sampleValues([old, next]).toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const [before, now] = [fitted(value, 0).length === 0, fits(value, 0).length === 0];
    if (now && !before) looser ??= { value };
    if (before && !now) tighter ??= { value };
  }
  return { isSame: false, looser, tighter };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
