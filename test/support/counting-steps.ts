import type { RateLimit } from '../../src/engine/rate-limits/rate-limit.ts';

/** The most threads. */
export const THREADS = 8;

/** The cells that all threads share: the next ticket, a gate, and the requests that were allowed for each value. */
export const TICKET = 0;
export const GATE = 1;
export const ALLOWED = 2;

export interface CountingThreadData {
  readonly index: number;
  readonly buffers: ReadonlyMap<string, SharedArrayBuffer>;
  readonly cells: Int32Array;
  readonly limit: Pick<RateLimit, 'id' | 'key' | 'burst' | 'intervalMs' | 'failures'>;
  readonly values: readonly string[];
  /** The number of steps; without it the thread counts until it is terminated. */
  readonly steps?: number | undefined;
  /** The random numbers begin with it. */
  readonly seed: number;
  /** The milliseconds that the clock runs for each ticket. */
  readonly msPerTicket: number;
  /** Also counts values that no other thread has. */
  readonly inventsValues?: boolean | undefined;
}

/** A step, in the order in which the threads had the counter: each reads the clock once while it holds the lock. */
export interface CountingStep {
  readonly ticket: number;
  readonly action: 'count' | 'release' | 'keep';
  readonly value: string;
  /** Identifies the request over all threads. */
  readonly request: string;
  readonly waitMs: number;
  readonly remaining: number;
  readonly resetMs: number;
}
