import type { Refusal, RefusalCode } from '../gateway/response/refusal.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { WorkerRows } from '../shared-memory/worker-rows.ts';
import type { Principal } from '../tokens/verifier.ts';
import type { CounterStore } from './compile-stores.ts';
import { WORKER_BYTES, WORKERS_AT } from './limit-buffer.ts';

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

/** The numbers that each worker counts by a limit. The first five are outcomes of a request, which has exactly one of them. */
const COUNTS = [
  /** Within the limit. */
  'allowed',
  /** Over the limit, and refused. */
  'refused',
  /** Over the limit, and forwarded because of `mode: report`. */
  'reported',
  /** Without the key, with `missing: skip` or `mode: report`. */
  'skipped',
  /** Refused because the key was missing, or because the store failed. */
  'undecided',
  /** Allowed, and taken back because the response was no failure, or another limit refused the request. */
  'released',
  /** Counted by this process because the store failed. */
  'fallback',
  'evicted',
  'overflowed',
  'retained',
] as const;

export type LimitCount = (typeof COUNTS)[number];
export type LimitRows = WorkerRows<LimitCount>;

export function limitRows(buffer: SharedArrayBuffer, workerIndex: number): LimitRows {
  const cells = new Float64Array(buffer, WORKERS_AT, (MAX_WORKERS * WORKER_BYTES) / Float64Array.BYTES_PER_ELEMENT);
  return new WorkerRows(cells, COUNTS, workerIndex);
}

export type LimitCounts = Record<LimitCount, number>;

/** Returns these counts as they are now, or zeros. */
export function copyLimitCounts(counts: Readonly<LimitCounts> | undefined): LimitCounts {
  return Object.fromEntries(COUNTS.map((name) => [name, counts?.[name] ?? 0])) as LimitCounts;
}

/** The counts of a limit over all workers. They continue if a reload changes the key of the limit. */
export class SharedLimitCounts {
  #rows: LimitRows;
  /** The counts by former keys. */
  #former = copyLimitCounts(undefined);
  readonly #total = copyLimitCounts(undefined);

  constructor(rows: LimitRows) {
    this.#rows = rows;
  }

  /** Returns the counts as they are now, always in the same object. */
  read(): Readonly<LimitCounts> {
    for (const name of COUNTS) this.#total[name] = this.#former[name] + this.#rows.sum(name);
    return this.#total;
  }

  /** Counts a request of this worker. */
  add(member: LimitCount): void {
    this.#rows.add(member);
  }

  /** Continues with the rows of the active plan. */
  continueWith(rows: LimitRows): void {
    if (rows === this.#rows) return;
    this.#former = copyLimitCounts(this.read());
    this.#rows = rows;
  }
}

/** The reasons why a store made no decision. They contain no text of the store, because a log must not repeat it. */
export const STORE_FAILURES = {
  timeout: 'the store did not respond in time',
  busy: 'too many decisions wait for the store',
  connecting: 'the first connection is not open yet',
  closed: 'the connection closed',
  unreachable: 'no connection to the server',
  tls: 'the TLS handshake failed, or the certificate is not trusted',
  credentials: 'the server refused the user, the password or the command',
  readonly: 'the server is a replica, which refuses writes',
  memory: 'the server is out of memory',
  loading: 'the server loads its data',
  cluster: 'the cluster is incomplete, or the server is no part of it',
  primary: 'the Sentinel servers know no primary of this name',
  response: 'the server returned an error or an unexpected response',
} as const;

export type StoreFailureReason = keyof typeof STORE_FAILURES;

/** `connecting`: there was no connection yet. `down`: requests do not wait for the store until it responds again. */
export type StoreState = 'connecting' | 'up' | 'down';

export interface StoreStatus {
  readonly id: string;
  readonly state: StoreState;
  /** Milliseconds since the Unix epoch at which the state changed. */
  readonly since: number;
  /** The reason while the state is `down`. */
  readonly reason: StoreFailureReason | undefined;
  /** Decisions that failed or came too late, and attempts to connect that failed, by reason. */
  readonly failures: ReadonlyMap<StoreFailureReason, number>;
  /** Decisions that were made without the store, or refused because of it. */
  readonly decisionsWithout: number;
  /** Decisions that wait for the store. */
  readonly pending: number;
}
