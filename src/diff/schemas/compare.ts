import type { Judge } from '../../plan/judges.ts';
import type { SchemaRoot } from '../../plan/schema-files.ts';
import type { Path } from '../../problem/finding.ts';
import { normalText } from './normal.ts';
import { samplesOf } from './samples.ts';

/** A schema where it stands. */
export interface Placed {
  readonly side: 'old' | 'new';
  readonly root: SchemaRoot;
  readonly path: Path;
  /** Of the schemas in the root. */
  readonly judgeAt: (path: Path) => Judge;
}

/** How two schemas differ, each with the smallest value that was found to show it. */
export interface Comparison {
  /** They say the same in the same words. */
  readonly isSame: boolean;
  /** Fits the new one alone. */
  readonly looser: { readonly value: unknown } | undefined;
  /** Fitted the old one alone. */
  readonly tighter: { readonly value: unknown } | undefined;
}

/** Compares schemas by values that are made of both: what both judge alike may be judged otherwise beyond them. */
export function compareSchemas(old: Placed, next: Placed): Comparison {
  if (normalText(old.root, old.path) === normalText(next.root, next.path))
    return { isSame: true, looser: undefined, tighter: undefined };
  const [fitted, fits] = [old, next].map(({ path, judgeAt }) => judgeAt(path)) as [Judge, Judge];
  let looser: Comparison['looser'];
  let tighter: Comparison['tighter'];
  for (const value of samplesOf([old, next]).toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const [before, now] = [fitted(value, 0).length === 0, fits(value, 0).length === 0];
    if (now && !before) looser ??= { value };
    if (before && !now) tighter ??= { value };
  }
  return { isSame: false, looser, tighter };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
