import { getOrCreate } from '../engine/get-or-create.ts';
import type { LimitCounts } from '../engine/rate-limits/rate-limit.ts';

type Counts = ReadonlyMap<string, Readonly<LimitCounts>>;

/** The number of intervals of half a minute in an hour. */
const INTERVALS = 120;
/** Requests, refused and reported ones. */
const MEMBERS = 3;

/** The last hour of each rate limit with requests. One limit takes 3 kB. */
export class LimitHistories {
  /** The totals of each limit at the end of each interval. A slot is reused after an hour. A reload that removes a limit frees it. */
  readonly #slots = new WeakMap<LimitCounts, Float64Array>();
  #latest = 0;

  /** Ends an interval of half a minute. */
  endInterval(counts: Counts): void {
    this.#latest += 1;
    for (const limitCounts of counts.values()) {
      const totals = totalsOf(limitCounts);
      if (totals[0] !== 0)
        getOrCreate(this.#slots, limitCounts, () => new Float64Array((INTERVALS + 1) * MEMBERS)).set(
          totals,
          startOf(this.#latest),
        );
    }
  }

  /** Returns the last minute and the last hour of the limits with requests in the last hour. */
  recent(counts: Counts) {
    return Array.from(counts, ([id, limitCounts]) => {
      const totals = totalsOf(limitCounts);
      const slots = this.#slots.get(limitCounts);
      // Before the first requests all slots are 0.
      const since = (intervals: number) => {
        const start = startOf(Math.max(0, this.#latest - intervals));
        return fieldsOf(totals.map((total, index) => total - (slots?.[start + index] ?? 0)));
      };
      return { id, ...since(1), last_hour: since(INTERVALS) };
    }).filter(({ last_hour }) => last_hour.requests > 0);
  }
}

function startOf(interval: number): number {
  return (interval % (INTERVALS + 1)) * MEMBERS;
}

function totalsOf({ allowed, refused, reported, skipped, undecided }: LimitCounts): number[] {
  return [allowed + refused + reported + skipped + undecided, refused, reported];
}

/** Returns the requests that a rate limit handled in some time. */
function fieldsOf([requests = 0, refused = 0, reported = 0]: readonly number[]) {
  return { requests, refused, reported };
}
