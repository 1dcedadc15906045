export const LOOK_UP_RESULTS = ['ok', 'not_found', 'failed', 'timeout', 'cancelled'] as const;

export type LookUpResult = (typeof LOOK_UP_RESULTS)[number];

/** Upper bounds of the buckets, in milliseconds. */
export const LOOK_UP_BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

/** Counts the look-ups of a resolver. */
export class Counts {
  readonly results: Record<LookUpResult, number> = { ok: 0, not_found: 0, failed: 0, timeout: 0, cancelled: 0 };
  /** Look-ups in each bucket alone; the last one is above all bounds. */
  readonly buckets = LOOK_UP_BOUNDS_MS.map(() => 0).concat(0);
  sumMs = 0;
  /** Connections that were opened to addresses whose time to live was over. */
  stale = 0;

  /** @param ms on the network */
  ended(result: LookUpResult, ms: number): void {
    this.results[result] += 1;
    const index = LOOK_UP_BOUNDS_MS.findIndex((bound) => ms <= bound);
    const bucket = index === -1 ? LOOK_UP_BOUNDS_MS.length : index;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sumMs += ms;
  }
}
