import type { RefusalCode } from '../engine/gateway/response/refusal.ts';
import { REFUSAL_CODES } from '../engine/gateway/telemetry/request-counters.ts';
import { getOrCreate } from '../engine/get-or-create.ts';
import { countsBetween, rounded, type TrafficCounts, ZERO_SUMS } from './traffic-counts.ts';

export interface RouteInterval extends TrafficCounts {
  /** The end of the interval. */
  readonly at: Date;
  readonly seconds: number;
}

export type RefusalCounts = ReadonlyMap<RefusalCode, number>;

/** The number of intervals of half a minute in an hour. */
const INTERVALS = 120;
/** Refusals are counted in groups of five minutes. */
const GROUP_INTERVALS = 10;
const GROUPS = INTERVALS / GROUP_INTERVALS;
/** Each history takes about 5 kB. A route without one has had no request, or other routes had some in the last hour. */
const MAX_ROUTES = 1_000;
const NO_COUNTS = countsBetween(ZERO_SUMS, ZERO_SUMS);

/** The last hour of each route with requests. */
export class RouteHistories {
  readonly #rings = new Map<string, RouteRing>();
  /** The latest intervals, oldest first. */
  readonly #intervals: Pick<RouteInterval, 'at' | 'seconds'>[] = [];
  #latest = 0;

  startInterval(at: Date, seconds: number): void {
    this.#latest += 1;
    this.#intervals.push({ at, seconds });
    if (this.#intervals.length > INTERVALS) this.#intervals.shift();
    for (const [id, { latest }] of this.#rings) if (latest <= this.#latest - INTERVALS) this.#rings.delete(id);
  }

  record(id: string, counts: TrafficCounts, refusals: ReturnType<typeof newRefusals>): void {
    if (counts.requests === 0) return;
    if (this.#rings.size >= MAX_ROUTES && !this.#rings.has(id)) return;
    getOrCreate(this.#rings, id, () => new RouteRing()).record(this.#latest, counts, refusals);
  }

  /** Returns the intervals of a route, oldest first, and its refused requests of the last 55 to 60 minutes by code. */
  of(id: string) {
    const ring = this.#rings.get(id);
    const first = this.#latest - this.#intervals.length + 1;
    const intervals: readonly RouteInterval[] = this.#intervals.map((interval, index) => ({
      ...interval,
      ...(ring?.countsOf(first + index) ?? NO_COUNTS),
    }));
    return { intervals, refusals: ring?.refusalsSince(this.#latest) ?? {} };
  }
}

/** Returns the counts of the codes that occurred since earlier counts. */
export function newRefusals(
  counts: RefusalCounts,
  earlier: RefusalCounts | undefined,
): readonly (readonly [code: RefusalCode, count: number])[] {
  return Array.from(counts, ([code, count]) => [code, count - (earlier?.get(code) ?? 0)] as const).filter(
    ([, count]) => count > 0,
  );
}

const MEMBERS = ['requests', 'client_errors', 'server_errors', 'p50_ms', 'p95_ms', 'p99_ms'] as const;
/** The members of an interval, after its number. */
const SLOT_LENGTH = MEMBERS.length + 1;

/** The intervals of one route. Each slot is reused after an hour. */
class RouteRing {
  /** The number of the latest interval with requests. */
  latest = 0;
  readonly #slots = new Float32Array(INTERVALS * SLOT_LENGTH);
  /** The refusals of the latest groups that have some, by the numbers of the groups. */
  readonly #groups = new Map<number, Map<RefusalCode, number>>();

  record(interval: number, counts: TrafficCounts, refusals: ReturnType<typeof newRefusals>): void {
    this.latest = interval;
    const start = (interval % INTERVALS) * SLOT_LENGTH;
    this.#slots[start] = interval;
    for (const [index, member] of MEMBERS.entries()) this.#slots[start + 1 + index] = counts[member] ?? 0;
    if (refusals.length === 0) return;
    const group = getOrCreate(this.#groups, Math.floor(interval / GROUP_INTERVALS), () => new Map());
    for (const [code, count] of refusals) group.set(code, (group.get(code) ?? 0) + count);
    const [oldest = 0] = this.#groups.keys();
    if (this.#groups.size > GROUPS) this.#groups.delete(oldest);
  }

  countsOf(interval: number): TrafficCounts | undefined {
    const start = (interval % INTERVALS) * SLOT_LENGTH;
    if (this.#slots[start] !== interval) return undefined;
    const numberAt = (index: number) => rounded(this.#slots[start + 1 + index] as number);
    const [requests, client_errors, server_errors] = [numberAt(0), numberAt(1), numberAt(2)];
    return { requests, client_errors, server_errors, p50_ms: numberAt(3), p95_ms: numberAt(4), p99_ms: numberAt(5) };
  }

  refusalsSince(latestInterval: number): Record<string, number> {
    const first = Math.floor(latestInterval / GROUP_INTERVALS) - GROUPS + 1;
    const groups = [...this.#groups].filter(([number]) => number >= first);
    const totals = REFUSAL_CODES.map(
      (code) => [code, groups.reduce((sum, [, counts]) => sum + (counts.get(code) ?? 0), 0)] as const,
    );
    return Object.fromEntries(totals.filter(([, count]) => count > 0));
  }
}
