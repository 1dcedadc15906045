import { BUCKET_BOUNDS_MS, TOTALS_INDEX, TOTALS_LENGTH } from '../engine/gateway/telemetry/request-counters.ts';

/** Requests between two times. */
export interface TrafficCounts {
  readonly requests: number;
  readonly client_errors: number;
  readonly server_errors: number;
  /** `null` without requests. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

export const ZERO_SUMS = new Float64Array(TOTALS_LENGTH);
const COUNTS = new Float64Array(TOTALS_LENGTH);

/** Returns the requests between two totals. After lower ones, a reload has removed the counts, and another one has begun them again. */
export function countsBetween(before: Float64Array, after: Float64Array): TrafficCounts {
  let requests = 0;
  for (let index = 0; index < TOTALS_LENGTH; index += 1) {
    const count = (after[index] as number) - (before[index] as number);
    COUNTS[index] = count < 0 ? (after[index] as number) : count;
    if (index < TOTALS_INDEX.classes) requests += COUNTS[index] as number;
  }
  return {
    requests,
    client_errors: COUNTS[TOTALS_INDEX.clientErrors] as number,
    server_errors: COUNTS[TOTALS_INDEX.serverErrors] as number,
    p50_ms: quantile(BUCKETS, requests, 0.5),
    p95_ms: quantile(BUCKETS, requests, 0.95),
    p99_ms: quantile(BUCKETS, requests, 0.99),
  };
}

const BUCKETS = COUNTS.subarray(TOTALS_INDEX.classes);

/** Estimates the quantile `share`, from 0 to 1, as if values were spread evenly within each bucket; at most the highest bound. */
export function quantile(buckets: Float64Array, total: number, share: number): number | null {
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (let index = 0; index < BUCKET_BOUNDS_MS.length; index += 1) {
    const count = buckets[index] as number;
    if (count > 0 && below + count >= rank) {
      const lower = BUCKET_BOUNDS_MS[index - 1] ?? 0;
      return rounded(lower + (((BUCKET_BOUNDS_MS[index] as number) - lower) * (rank - below)) / count);
    }
    below += count;
  }
  return BUCKET_BOUNDS_MS.at(-1) ?? null;
}

/** Rounds to three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
