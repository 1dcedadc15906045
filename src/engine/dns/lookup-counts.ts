const LOOKUP_OUTCOMES = ['ok', 'not_found', 'failed', 'timeout', 'cancelled'] as const;

type LookupOutcome = (typeof LOOKUP_OUTCOMES)[number];

export class LookupCounts {
  readonly outcomes: Record<LookupOutcome, number> = { ok: 0, not_found: 0, failed: 0, timeout: 0, cancelled: 0 };
  /** The upper bounds of the buckets of the histogram, in milliseconds. */
  readonly boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];
  /** The count of each bucket, not cumulative. The last bucket counts everything above the last bound. */
  readonly buckets = this.boundsMs.map(() => 0).concat(0);
  sumMs = 0;
  /** Lookups in progress. */
  inFlight = 0;
  /** Connections to addresses whose time to live had expired. */
  stale = 0;

  /** @param ms the time from the first query to the result */
  record(outcome: LookupOutcome, ms: number): void {
    this.outcomes[outcome] += 1;
    const index = this.boundsMs.findIndex((bound) => ms <= bound);
    const bucket = index === -1 ? this.boundsMs.length : index;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sumMs += ms;
  }
}
