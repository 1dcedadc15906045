import type { RoutePair, SampleRequest } from '../plan/route-pairs.ts';
import type { Path, Severity } from '../problem/finding.ts';
import type { Range } from '../problem/problem.ts';
import type { DiffRoute, DiffSide } from './side.ts';

/** One kind of difference between two manifests. */
export interface Comparison {
  /** Kebab-case, stable across versions. */
  readonly id: string;
  readonly severity: Severity;
  /** What it tells of, for the documentation: upper case, full stop. */
  readonly description: string;
  readonly find: (sides: DiffContext) => Iterable<DiffFinding>;
}

export interface DiffContext {
  readonly old: DiffSide;
  readonly next: DiffSide;
  /** Routes that have the same requests, or the same id. */
  readonly pairs: readonly RoutePair<DiffRoute>[];
}

/** A difference before it has a line. */
export interface DiffFinding {
  /** What is otherwise now: lower case, no full stop. */
  readonly message: string;
  /** Where the new manifest says so; with `in: 'old'`, where the old one said what is gone. */
  readonly path: Path;
  readonly side?: 'old';
  readonly witness?: DiffWitness | undefined;
}

/** Something that shows a difference: it is treated otherwise by the two manifests. */
export type DiffWitness =
  | { readonly request: DiffRequest }
  /** Refused by the one and let through by the other. */
  | { readonly body: unknown };

export interface DiffRequest extends SampleRequest {
  /** Names and values in turn, where they matter. */
  readonly headers?: readonly string[];
}

/** A difference with its place: what is printed. */
export interface Difference {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly range: Range;
  readonly witness?: DiffWitness;
}
