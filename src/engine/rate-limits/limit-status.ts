import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { WorkerRows } from '../shared-memory/worker-rows.ts';
import { WORKER_BYTES, WORKERS_AT } from './limit-buffer.ts';

/** The outcomes of a request by a rate limit. Each request has exactly one of the first five. */
const OUTCOMES = [
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
] as const;

/** The numbers that each worker counts by a limit. */
const COUNTS = [...OUTCOMES, 'evicted', 'overflowed', 'retained'] as const;

export type LimitCount = (typeof COUNTS)[number];
export type LimitRows = WorkerRows<LimitCount>;

export function limitRows(buffer: SharedArrayBuffer, workerIndex: number): LimitRows {
  const cells = new Float64Array(buffer, WORKERS_AT, (MAX_WORKERS * WORKER_BYTES) / Float64Array.BYTES_PER_ELEMENT);
  return new WorkerRows(cells, COUNTS, workerIndex);
}

/** The number of requests with each outcome of a rate limit. */
export type LimitCounts = Record<(typeof OUTCOMES)[number], number>;

/** Returns these counts as they are now, or zeros. */
export function copyLimitCounts(counts: Readonly<LimitCounts> | undefined): LimitCounts {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counts?.[outcome] ?? 0])) as LimitCounts;
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
    for (const outcome of OUTCOMES) this.#total[outcome] = this.#former[outcome] + this.#rows.sum(outcome);
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
