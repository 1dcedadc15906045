import type { RateLimit } from './rate-limit.ts';

/**
 * The result of counting one request by the generic cell rate algorithm (GCRA). A counter is one number, the theoretical arrival
 * time. Each request moves it one interval ahead. A request is over the limit if the counter would then be more than `burst`
 * intervals ahead of the clock.
 */
export interface CountedRequest {
  /** Milliseconds until a request is allowed; 0 if this one is. */
  readonly waitMs: number;
  /** Requests that are still allowed at once. */
  readonly remaining: number;
  /** Milliseconds until the counter is back at its start. */
  readonly resetMs: number;
  /** The theoretical arrival time after this request, by the clock of the counters. */
  readonly arrival: number;
  /** The counters that must take the request back: a store that fails uses those of this process. */
  readonly countedBy: Counters;
  /** True if this process counted the request because the store failed. */
  readonly isFallback: boolean;
}

/** The store failed, and its `onFailure` is `refuse`. */
export interface StoreFailure {
  /** For the log. */
  readonly storeFailure: string;
}

/** Counters of rate limits: of this process, or of a store that several gateways share. */
export interface Counters {
  /** Counts a request that is within the limit. The promise never rejects. */
  count(limit: RateLimit, value: string): CountedRequest | StoreFailure | Promise<CountedRequest | StoreFailure>;
  /** Takes back a request that was counted, except for the part of its interval that has passed. */
  release(limit: RateLimit, value: string, counted: CountedRequest): void;
  /** Ends a request of a limit of failures that remains counted. Each one is either released or kept. */
  keep?(limit: RateLimit, value: string, counted: CountedRequest): void;
}
