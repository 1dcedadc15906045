import type { Refusal, RefusalCode } from '../gateway/response/refusal.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import type { Principal } from '../tokens/verifier.ts';
import type { CounterStore } from './compile-stores.ts';

/** The parts of a request that the key of a rate limit reads. */
export interface RateLimitFacts {
  readonly route: { readonly id: string };
  /** The address of the client, as `server.trustedProxies` determines it; empty if it is not known. */
  readonly clientAddress: string;
  /** The fairness key of the client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly client: string;
  readonly request: { readonly rawHeaders: RawHeaders };
  /** The verified caller; `undefined` on a public route. */
  readonly principal: Principal | undefined;
  /** The validated body; `undefined` if the request has none or it is streamed. */
  readonly body: Buffer | undefined;
}

/** The kinds of values that a key can contain. */
export type RateLimitKeyKind = 'client' | 'subject' | 'route' | 'body' | 'claim' | 'header';

/** The earliest step of a request after which the key is known. */
export type RateLimitStage = 'match' | 'authorize' | 'validate';

export interface RateLimit {
  readonly id: string;
  /** Equal for limits that share counters: a reload that changes only the rate or the mode continues to count. */
  readonly key: string;
  readonly kinds: readonly RateLimitKeyKind[];
  readonly stage: RateLimitStage;
  /**
   * Returns the value to count by, at most 48 characters; `undefined` if the request lacks a part of it, and a refusal if servers
   * could read another value than the gateway.
   */
  readonly readValue: (facts: RateLimitFacts) => string | Refusal | undefined;
  /** `undefined` if the value cannot be missing. */
  readonly missing: 'refuse' | 'skip' | undefined;
  /** The number in `allow`, and its duration. */
  readonly requests: number;
  readonly periodMs: number;
  /** The requests that may come at once after a pause. */
  readonly burst: number;
  /** The time after which one more request is allowed. */
  readonly intervalMs: number;
  /** The statuses of failures; `undefined` if every request counts. */
  readonly failures: ReadonlySet<number> | undefined;
  /** `undefined`: this process counts by itself. */
  readonly store: CounterStore | undefined;
  readonly mode: 'enforce' | 'report';
  /** The last day on which the limit should only report, such as `2027-01-31`. */
  readonly reportUntil: string | undefined;
}

/** The limits of a route, by the step of the request at which they apply. */
export type RouteRateLimits = Readonly<Record<RateLimitStage, readonly RateLimit[]>>;

/** Returns a text that is equal for limits that count and refuse alike. */
export function limitDefinition({ failures, store, ...limit }: RateLimit): string {
  return JSON.stringify({ ...limit, failures: failures && [...failures].sort(), store: store?.key });
}

/** The end of a request that rate limits have counted. */
export interface CountedEnd {
  /** True once a byte of the request was sent to an upstream. */
  readonly wasSent: boolean;
  /** The status of the response; `undefined` without one. */
  readonly status: number | undefined;
  /** The code of the refusal, or of the upstream error. */
  readonly refusal: RefusalCode | undefined;
}

const LIMIT_REFUSALS: ReadonlySet<RefusalCode> = new Set(['rate_limit_exceeded', 'rate_limit_unavailable']);

/**
 * Returns true if a rate limit takes a request back: it counts failures, and the request is none. A request that was sent, but has no
 * response of the upstream to forward, remains counted: it may have been a guess. A request that a rate limit refuses is not counted
 * at all, because the client could otherwise not succeed after the time in `Retry-After`.
 */
export function isReleased({ failures }: RateLimit, { wasSent, status, refusal }: CountedEnd): boolean {
  if (wasSent && (status === undefined || refusal !== undefined)) return false;
  if (refusal !== undefined && LIMIT_REFUSALS.has(refusal)) return true;
  return failures !== undefined && (status === undefined || !failures.has(status));
}
