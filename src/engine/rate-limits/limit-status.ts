import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { WorkerRows } from '../shared-memory/worker-rows.ts';
import { WORKER_BYTES, WORKERS_AT } from './limit-buffer.ts';

/** The numbers that each worker counts by a limit. The first seven are the members of `LimitCounts`. */
const COUNTS = [
  'allowed',
  'refused',
  'reported',
  'skipped',
  'undecided',
  'released',
  'fallback',
  'evicted',
  'overflowed',
  'retained',
] as const;

export type LimitCount = (typeof COUNTS)[number];
export type LimitRows = WorkerRows<LimitCount>;

/** Returns the numbers in the buffer of a limit. */
export function limitRows(buffer: SharedArrayBuffer, workerIndex: number): LimitRows {
  const cells = new Float64Array(buffer, WORKERS_AT, (MAX_WORKERS * WORKER_BYTES) / Float64Array.BYTES_PER_ELEMENT);
  return new WorkerRows(cells, COUNTS, workerIndex);
}

/** The number of requests with each outcome of a rate limit. Each request is in exactly one of the first five. */
export interface LimitCounts {
  /** Within the limit. */
  allowed: number;
  /** Over the limit, and refused. */
  refused: number;
  /** Over the limit, and forwarded because of `mode: report`. */
  reported: number;
  /** Without the key, with `missing: skip` or `mode: report`. */
  skipped: number;
  /** Refused because the key was missing, or because the store failed. */
  undecided: number;
  /** Allowed, and taken back because the response was no failure, or another limit refused the request. */
  released: number;
  /** Counted by this process because the store failed. */
  fallback: number;
}

/** Returns these counts as they are now, or zeros. */
export function copyLimitCounts(counts: Readonly<LimitCounts> | undefined): LimitCounts {
  const {
    allowed = 0,
    refused = 0,
    reported = 0,
    skipped = 0,
    undecided = 0,
    released = 0,
    fallback = 0,
  } = counts ?? {};
  return { allowed, refused, reported, skipped, undecided, released, fallback };
}

/** The counts of a limit over all workers. They continue if a reload changes the key of the limit. */
export class SharedLimitCounts implements Readonly<LimitCounts> {
  #rows: LimitRows;
  /** The counts by former keys. */
  #former = copyLimitCounts(undefined);

  constructor(rows: LimitRows) {
    this.#rows = rows;
  }

  get allowed(): number {
    return this.#former.allowed + this.#rows.sum('allowed');
  }

  get refused(): number {
    return this.#former.refused + this.#rows.sum('refused');
  }

  get reported(): number {
    return this.#former.reported + this.#rows.sum('reported');
  }

  get skipped(): number {
    return this.#former.skipped + this.#rows.sum('skipped');
  }

  get undecided(): number {
    return this.#former.undecided + this.#rows.sum('undecided');
  }

  get released(): number {
    return this.#former.released + this.#rows.sum('released');
  }

  get fallback(): number {
    return this.#former.fallback + this.#rows.sum('fallback');
  }

  /** Counts a request of this worker. */
  add(member: LimitCount): void {
    this.#rows.add(member);
  }

  /** Continues with the rows of the active plan. */
  continueWith(rows: LimitRows): void {
    if (rows === this.#rows) return;
    this.#former = copyLimitCounts(this);
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

/** The state of a store of the active plan. */
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
