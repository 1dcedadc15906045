import { CHANGE_KINDS, type ChangeKind, type ComparisonResult } from './compare-outcomes.ts';
import { type OutcomeReport, reportOutcome, type UnknownReason } from './outcome.ts';

/** Requests that change in the same way. */
export interface ChangeGroup<Witness> {
  readonly kind: ChangeKind;
  readonly from: OutcomeReport;
  readonly to: OutcomeReport;
  readonly requests: number;
  /** Distinct callers: by their subject, or by their address without one. At most `MAX_CALLERS`. */
  readonly callers: number;
  /** The first requests of the group. */
  readonly witnesses: readonly Witness[];
}

/** The counts of all requests that were compared. */
export interface ComparisonCounts {
  readonly requests: number;
  readonly same: number;
  readonly unknown: ReadonlyMap<UnknownReason, number>;
  readonly changed: ReadonlyMap<ChangeKind, number>;
}

/** The counts with the changes in groups. */
export interface ComparisonReport<Witness> extends ComparisonCounts {
  /** Groups with the most requests first; at most `MAX_GROUPS`. */
  readonly groups: readonly ChangeGroup<Witness>[];
  /** Changed requests that are in no group, because there are too many groups. */
  readonly ungrouped: number;
}

/** A group of changes that is still counted. */
type CountedGroup<Witness> = Pick<ChangeGroup<Witness>, 'kind' | 'from' | 'to'> & {
  requests: number;
  readonly callers: Set<string>;
  readonly witnesses: Witness[];
};

/** The results that a comparison has counted, as plain data that another thread can receive. */
export type ComparisonTotals<Witness> = ReturnType<typeof createTotals<Witness>>;

function createTotals<Witness>() {
  return {
    requests: 0,
    same: 0,
    unknown: new Map<UnknownReason, number>(),
    changed: new Map<ChangeKind, number>(),
    groups: new Map<string, CountedGroup<Witness>>(),
    ungrouped: 0,
    /** The callers of all groups together. */
    callers: 0,
  };
}

/** Reasons come from a small table and routes from the manifest, but their combinations could fill the memory. */
export const MAX_GROUPS = 2_000;
export const MAX_CALLERS = 10_000;
/** The limit of callers in all groups together. */
export const MAX_ALL_CALLERS = 500_000;

/** Counts compared requests, and groups those that change. */
export class OutcomeComparison<Witness> {
  readonly #maxWitnesses: number;
  readonly #maxCallers: number;
  #totals: ComparisonTotals<Witness> = createTotals();

  /** Limits the witnesses of a group, and the callers of all groups together. */
  constructor(maxWitnesses = 1, maxCallers = MAX_ALL_CALLERS) {
    this.#maxWitnesses = maxWitnesses;
    this.#maxCallers = maxCallers;
  }

  /** Adds a result for `weight` requests. `caller` returns a text that does not name the caller; `undefined` if it is not known. */
  add(result: ComparisonResult, weight: number, caller: () => string | undefined, witness: () => Witness): void {
    const totals = this.#totals;
    totals.requests += weight;
    if (result.result === 'same') totals.same += weight;
    else if (result.result === 'unknown') increase(totals.unknown, result.reason, weight);
    else {
      const { kind } = result;
      increase(totals.changed, kind, weight);
      const change = { kind, from: reportOutcome(result.from), to: reportOutcome(result.to) };
      const group = this.#groupOf(JSON.stringify(change), change, weight);
      if (group === undefined) return;
      this.#addCaller(group, caller());
      if (group.witnesses.length < this.#maxWitnesses) group.witnesses.push(witness());
    }
  }

  /** Counts a request whose outcome does not change, without the cost of a result. */
  addSame(): void {
    this.#totals.requests += 1;
    this.#totals.same += 1;
  }

  get requests(): number {
    return this.#totals.requests;
  }

  /** The counts so far, without the cost of the groups. */
  get counts(): ComparisonCounts {
    const { requests, same, unknown, changed } = this.#totals;
    return { requests, same, unknown, changed };
  }

  get changes(): number {
    return [...this.#totals.changed.values()].reduce((sum, count) => sum + count, 0);
  }

  report(): ComparisonReport<Witness> {
    const { groups: byKey, ungrouped } = this.#totals;
    const groups = [...byKey.values()].map(({ callers, ...group }) => ({ ...group, callers: callers.size }));
    return {
      ...this.counts,
      groups: groups.sort((a, b) => rankOf(a.kind) - rankOf(b.kind) || b.requests - a.requests),
      ungrouped,
    };
  }

  /** Returns all results since the last call, and begins to count from zero. */
  take(): ComparisonTotals<Witness> {
    const totals = this.#totals;
    this.#totals = createTotals();
    return totals;
  }

  /** Adds the results that another comparison has counted. */
  merge({ requests, same, unknown, changed, groups, ungrouped }: ComparisonTotals<Witness>): void {
    const totals = this.#totals;
    totals.requests += requests;
    totals.same += same;
    totals.ungrouped += ungrouped;
    for (const [reason, count] of unknown) increase(totals.unknown, reason, count);
    for (const [kind, count] of changed) increase(totals.changed, kind, count);
    for (const [key, other] of groups) {
      const group = this.#groupOf(key, other, other.requests);
      if (group === undefined) continue;
      for (const caller of other.callers) this.#addCaller(group, caller);
      group.witnesses.push(...other.witnesses.slice(0, this.#maxWitnesses - group.witnesses.length));
    }
  }

  /** Adds requests to the group of a change. Returns `undefined` if there are too many groups. */
  #groupOf(key: string, { kind, from, to }: Pick<ChangeGroup<Witness>, 'kind' | 'from' | 'to'>, requests: number) {
    const { groups } = this.#totals;
    let group = groups.get(key);
    if (group === undefined) {
      if (groups.size === MAX_GROUPS) {
        this.#totals.ungrouped += requests;
        return undefined;
      }
      group = { kind, from, to, requests: 0, callers: new Set(), witnesses: [] };
      groups.set(key, group);
    }
    group.requests += requests;
    return group;
  }

  #addCaller({ callers }: CountedGroup<Witness>, caller: string | undefined): void {
    const totals = this.#totals;
    if (caller === undefined || callers.size >= MAX_CALLERS || totals.callers >= this.#maxCallers) return;
    const before = callers.size;
    callers.add(caller);
    totals.callers += callers.size - before;
  }
}

export function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const KINDS = Object.keys(CHANGE_KINDS);

function rankOf(kind: ChangeKind): number {
  return KINDS.indexOf(kind);
}
