import type { ChangeKind } from './compare-outcomes.ts';
import type { OutcomeReport, UnknownReason } from './outcome.ts';

/** A group of changes that is still counted. */
export interface MutableGroup<Witness> {
  readonly kind: ChangeKind;
  readonly from: OutcomeReport;
  readonly to: OutcomeReport;
  requests: number;
  readonly callers: Set<string>;
  readonly witnesses: Witness[];
}

/** The results that a comparison has counted, as plain data that another thread can receive. */
export interface ComparisonTotals<Witness> {
  requests: number;
  same: number;
  readonly unknown: Map<UnknownReason, number>;
  readonly changed: Map<ChangeKind, number>;
  readonly groups: Map<string, MutableGroup<Witness>>;
  /** Changed requests that are in no group, because there are too many groups. */
  ungrouped: number;
  /** The callers of all groups together. */
  callers: number;
}

export function createTotals<Witness>(): ComparisonTotals<Witness> {
  return {
    requests: 0,
    same: 0,
    unknown: new Map(),
    changed: new Map(),
    groups: new Map(),
    ungrouped: 0,
    callers: 0,
  };
}
