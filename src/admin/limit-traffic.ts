import type { LimitCounts } from '../engine/rate-limits/limit-status.ts';

type Counts = ReadonlyMap<string, Readonly<LimitCounts>>;

/** The number of intervals of half a minute in an hour. */
const INTERVALS = 120;
/** Requests, refused and reported ones. */
const MEMBERS = 3;

/** The last hour of each rate limit with requests. One limit takes 1.5 kB. */
export class LimitHistories {
  // A weak map, so that limits that a reload removes are freed.
  readonly #rings = new WeakMap<LimitCounts, LimitRing>();
  #latest = 0;

  /** Ends an interval of half a minute. */
  endInterval(counts: Counts): void {
    this.#latest += 1;
    for (const limitCounts of counts.values()) {
      const totals = totalsOf(limitCounts);
      let ring = this.#rings.get(limitCounts);
      if (ring === undefined) {
        if (totals[0] === 0) continue;
        ring = new LimitRing();
        this.#rings.set(limitCounts, ring);
      }
      ring.record(this.#latest, totals);
    }
  }

  /** Returns the last minute and the last hour of the limits with requests in the last hour. */
  recent(counts: Counts) {
    return Array.from(counts, ([id, limitCounts]) => {
      const totals = totalsOf(limitCounts);
      const ring = this.#rings.get(limitCounts);
      const minute = ring?.since(totals, this.#latest, 1) ?? totals;
      const hour = ring?.since(totals, this.#latest, INTERVALS) ?? totals;
      return { id, ...fieldsOf(minute), last_hour: fieldsOf(hour) };
    }).filter(({ last_hour }) => last_hour.requests > 0);
  }
}

/** The totals of a limit at the end of each interval. Each slot is reused after an hour. */
class LimitRing {
  readonly #slots = new Float64Array((INTERVALS + 1) * MEMBERS);

  record(interval: number, totals: readonly number[]): void {
    this.#slots.set(totals, this.#startOf(interval));
  }

  /** Returns the counts since the end of an earlier interval. Before the first requests all slots are 0. */
  since(totals: readonly number[], latest: number, intervals: number): number[] {
    const start = this.#startOf(Math.max(0, latest - intervals));
    return totals.map((total, index) => total - (this.#slots[start + index] as number));
  }

  #startOf(interval: number): number {
    return (interval % (INTERVALS + 1)) * MEMBERS;
  }
}

function totalsOf({ allowed, refused, reported, skipped, undecided }: LimitCounts): number[] {
  return [allowed + refused + reported + skipped + undecided, refused, reported];
}

/** Returns the requests that a rate limit handled in some time. */
function fieldsOf([requests = 0, refused = 0, reported = 0]: readonly number[]) {
  return { requests, refused, reported };
}
