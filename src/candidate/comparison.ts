import { CHANGE_KINDS, type ChangeKind, type ComparisonResult } from './compare-outcomes.ts';
import { type KnownOutcome, type OutcomeReport, reportOutcome, type UnknownReason } from './outcome.ts';

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

interface MutableGroup<Witness> {
  readonly kind: ChangeKind;
  readonly from: OutcomeReport;
  readonly to: OutcomeReport;
  requests: number;
  readonly callers: Set<string>;
  readonly witnesses: Witness[];
}

/** Reasons come from a small table and routes from the manifest, but their combinations could fill the memory. */
export const MAX_GROUPS = 2_000;
export const MAX_CALLERS = 10_000;
/** The limit of callers in all groups together. */
const MAX_ALL_CALLERS = 500_000;

/** Counts compared requests, and groups those that change. */
export class OutcomeComparison<Witness> {
  readonly #maxWitnesses: number;
  readonly #unknown = new Map<UnknownReason, number>();
  readonly #changed = new Map<ChangeKind, number>();
  readonly #groups = new Map<string, MutableGroup<Witness>>();
  #same = 0;
  #requests = 0;
  #ungrouped = 0;
  #callers = 0;

  /** @param maxWitnesses the most witnesses of a group */
  constructor(maxWitnesses = 1) {
    this.#maxWitnesses = maxWitnesses;
  }

  /**
   * @param weight the number of requests that the result stands for
   * @param caller a text that identifies the caller without naming it; `undefined` if it is not known
   */
  add(result: ComparisonResult, weight: number, caller: () => string | undefined, witness: () => Witness): void {
    this.#requests += weight;
    if (result.result === 'same') this.#same += weight;
    else if (result.result === 'unknown') increase(this.#unknown, result.reason, weight);
    else {
      increase(this.#changed, result.kind, weight);
      this.#addToGroup(result, weight, caller, witness);
    }
  }

  /** Counts a request whose outcome does not change, without the cost of a result. */
  addSame(): void {
    this.#requests += 1;
    this.#same += 1;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Requests that changed. */
  get changes(): number {
    return [...this.#changed.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The counts so far, without the cost of the groups. */
  get counts(): ComparisonCounts {
    return { requests: this.#requests, same: this.#same, unknown: this.#unknown, changed: this.#changed };
  }

  report(): ComparisonReport<Witness> {
    const groups = [...this.#groups.values()].map(({ callers, ...group }) => ({ ...group, callers: callers.size }));
    return {
      ...this.counts,
      groups: groups.sort((a, b) => rankOf(a.kind) - rankOf(b.kind) || b.requests - a.requests),
      ungrouped: this.#ungrouped,
    };
  }

  #addToGroup(
    { kind, from, to }: { kind: ChangeKind; from: KnownOutcome; to: KnownOutcome },
    weight: number,
    caller: () => string | undefined,
    witness: () => Witness,
  ): void {
    const reports = { from: reportOutcome(from), to: reportOutcome(to) };
    const key = JSON.stringify([kind, reports]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size === MAX_GROUPS) {
        this.#ungrouped += weight;
        return;
      }
      group = { kind, ...reports, requests: 0, callers: new Set(), witnesses: [] };
      this.#groups.set(key, group);
    }
    group.requests += weight;
    this.#addCaller(group, caller());
    if (group.witnesses.length < this.#maxWitnesses) group.witnesses.push(witness());
  }

  #addCaller({ callers }: MutableGroup<Witness>, caller: string | undefined): void {
    if (caller === undefined || callers.size >= MAX_CALLERS || this.#callers >= MAX_ALL_CALLERS) return;
    const before = callers.size;
    callers.add(caller);
    this.#callers += callers.size - before;
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const KINDS = Object.keys(CHANGE_KINDS);

function rankOf(kind: ChangeKind): number {
  return KINDS.indexOf(kind);
}
