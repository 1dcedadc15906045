import { ROW, type RowMember, type WorkerRows } from './worker-rows.ts';

/** The number of requests with each outcome of a rate limit. Each request is in exactly one of the first five. */
export interface LimitCounts {
  /** Within the limit. */
  allowed: number;
  /** Over the limit, and refused. */
  refused: number;
  /** Over the limit, and forwarded because of `mode: report`. */
  reported: number;
  /** Without the key, with `missing: skip` or `mode: report`. */
  skipped: number;
  /** Refused because the key was missing, or because the store failed. */
  undecided: number;
  /** Allowed, and taken back because the response was no failure, or another limit refused the request. */
  released: number;
  /** Counted by this process because the store failed. */
  fallback: number;
}

/** Returns these counts as they are now, or zeros. */
export function copyLimitCounts(counts: Readonly<LimitCounts> | undefined): LimitCounts {
  const {
    allowed = 0,
    refused = 0,
    reported = 0,
    skipped = 0,
    undecided = 0,
    released = 0,
    fallback = 0,
  } = counts ?? {};
  return { allowed, refused, reported, skipped, undecided, released, fallback };
}

/** The counts of a limit over all workers. They continue if a reload changes the key of the limit. */
export class SharedLimitCounts implements Readonly<LimitCounts> {
  #rows: WorkerRows;
  /** The counts by former keys. */
  #former = copyLimitCounts(undefined);

  constructor(rows: WorkerRows) {
    this.#rows = rows;
  }

  get allowed(): number {
    return this.#former.allowed + this.#rows.sum(ROW.allowed);
  }

  get refused(): number {
    return this.#former.refused + this.#rows.sum(ROW.refused);
  }

  get reported(): number {
    return this.#former.reported + this.#rows.sum(ROW.reported);
  }

  get skipped(): number {
    return this.#former.skipped + this.#rows.sum(ROW.skipped);
  }

  get undecided(): number {
    return this.#former.undecided + this.#rows.sum(ROW.undecided);
  }

  get released(): number {
    return this.#former.released + this.#rows.sum(ROW.released);
  }

  get fallback(): number {
    return this.#former.fallback + this.#rows.sum(ROW.fallback);
  }

  /** Counts a request of this worker. */
  add(member: RowMember): void {
    this.#rows.add(member);
  }

  /** Continues with the rows of the active plan. */
  continueWith(rows: WorkerRows): void {
    if (rows === this.#rows) return;
    this.#former = copyLimitCounts(this);
    this.#rows = rows;
  }
}
