import { type BufferParts, privateParts } from '../../shared-memory/buffer-parts.ts';
import { HASH_KEY_LENGTH, KeyedHash } from '../../shared-memory/keyed-hash.ts';
import { SharedLock } from '../../shared-memory/shared-lock.ts';
import { SharedText, textMemory } from '../../shared-memory/shared-text.ts';
import { SINGLE_WORKER, type WorkerPlace } from '../../shared-memory/worker-context.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import { FailureStreak, streakMemory } from '../circuit-breaker/failure-streak.ts';
import { RecentClients, recentClientsMemory } from '../circuit-breaker/recent-clients.ts';
import { RecentResults, resultsMemory } from './recent-results.ts';
import type { HealthState } from './upstream-status.ts';

/** An older observation says nothing about the present. */
const WINDOW_MS = 60_000;
/** After this time with one result only, earlier results of the other kind no longer count. */
const UNANIMOUS_MS = 1_000;
/** Consecutive failures that requests may provoke, before the first of them counts. */
const PROVOKED_FAILURES = 3;
/** The most of these that count for one client while several clients use the endpoint. */
const PROVOKED_FAILURES_PER_CLIENT = PROVOKED_FAILURES - 1;
/** The statuses with which an upstream reports that it is not available. Other 5xx may concern only the request. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** The indexes of `ObservedHealthMemory.cells`. */
const LOCK = 0;
/** 1 while a failure may still count. */
const HAS_FAILURE = 1;
const CELLS = 2;

/** @param workers the number of workers */
export function observedHealthMemory(parts: BufferParts, workers: number) {
  return {
    cells: parts.int32(CELLS),
    hashKey: parts.int32(HASH_KEY_LENGTH),
    results: resultsMemory(parts, workers),
    streak: streakMemory(parts, PROVOKED_FAILURES),
    clients: recentClientsMemory(parts),
    // One millisecond after the latest failure that a request may have provoked.
    provokedAt: parts.float64(1),
    reason: textMemory(parts),
  };
}

type ObservedHealthMemory = ReturnType<typeof observedHealthMemory>;

interface ObservedHealthOptions {
  /** Called whenever the state may have changed to or from unhealthy, also by the passage of time. */
  readonly onChange?: () => void;
  /** Returns the milliseconds of a monotonic clock that all workers share. */
  readonly now?: () => number;
  readonly memory?: ObservedHealthMemory;
  readonly worker?: WorkerPlace;
}

/**
 * The health of an endpoint by the requests of the last minute: unhealthy if more of them failed than succeeded, and recent ones
 * count more. A failure that no request can cause counts at once. Failures that a request may provoke count once several follow each
 * other without a success, and while several clients use the endpoint, no client alone makes it unhealthy.
 *
 * The requests of all workers count together. A success takes no lock.
 */
export class ObservedHealth {
  readonly #now: () => number;
  readonly #onChange: () => void;
  readonly #cells: Int32Array;
  readonly #lock: SharedLock;
  readonly #hash: KeyedHash;
  readonly #results: RecentResults;
  readonly #streak: FailureStreak;
  readonly #clients: RecentClients;
  readonly #provokedAt: Float64Array;
  readonly #reason: SharedText;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    onChange = () => undefined,
    now = () => performance.now(),
    memory = privateParts((parts) => observedHealthMemory(parts, SINGLE_WORKER.count)),
    worker = SINGLE_WORKER,
  }: ObservedHealthOptions = {}) {
    this.#onChange = onChange;
    this.#now = now;
    this.#cells = memory.cells;
    this.#lock = new SharedLock(memory.cells, LOCK);
    this.#hash = new KeyedHash(memory.hashKey);
    this.#results = new RecentResults(memory.results, worker);
    this.#streak = new FailureStreak(memory.streak);
    this.#clients = new RecentClients(memory.clients, this.#hash, now);
    this.#provokedAt = memory.provokedAt;
    this.#reason = new SharedText(memory.reason);
  }

  get state(): HealthState {
    const now = this.#now();
    const { succeededAt, failedAt, difference, isLatestSuccess } = this.#results.sum(now);
    const [sinceSuccess, sinceFailure] = [now - succeededAt, now - failedAt];
    if (Math.min(sinceSuccess, sinceFailure) >= WINDOW_MS) return 'unknown';
    if (Math.max(sinceSuccess, sinceFailure) >= UNANIMOUS_MS) return isLatestSuccess ? 'healthy' : 'unhealthy';
    return difference > 0 ? 'unhealthy' : 'healthy';
  }

  /** The reason of the latest failure, as in the access log; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.state === 'unhealthy' ? this.#reason.value : undefined;
  }

  /** A response began. A status above 504, and 500 and 501, show neither that the endpoint works nor that it fails. */
  recordResponse(status: number, client: string): void {
    this.#clients.record(client);
    if (UNAVAILABLE_STATUSES.has(status)) {
      this.#recordProvoked(client, `upstream_status_${status}`);
    } else if (status < 500) {
      this.#results.add(true, this.#now());
      if (this.#cells[HAS_FAILURE] === 1) this.#onChange();
    }
  }

  /** A response is complete. */
  recordCompletion(status: number): void {
    if (status < 500 && !this.#streak.isEmpty) this.#resetStreak();
  }

  /** @param status the status of the response if it began, otherwise 0 */
  recordFailure(source: FailureSource, client: string, reason: string, status: number): void {
    if (source === 'client' || source === 'gateway') return;
    this.#clients.record(client);
    // The beginning of the response counted as a success.
    if (status > 0 && status < 500) this.#results.removeSuccess();
    if (source === 'endpoint') this.#recordDecisive(reason);
    else this.#recordProvoked(client, reason);
  }

  /** Discards all observations, because a newer result of another kind contradicts them. */
  reset(): void {
    this.#resetStreak();
    this.#results.reset();
  }

  /** Continues to report changes by the passage of time in place of a worker that ended. */
  forgetWorker(): void {
    if (this.#cells[HAS_FAILURE] === 1) this.#startTimer();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #resetStreak(): void {
    this.#lock.run(() => this.#streak.reset());
  }

  #recordProvoked(client: string, reason: string): void {
    const now = this.#now();
    this.#hash.hash(client);
    const limit = this.#clients.hasSeveral ? PROVOKED_FAILURES_PER_CLIENT : PROVOKED_FAILURES;
    const isDecisive = this.#lock.run(() => {
      if (now - ((this.#provokedAt[0] as number) - 1) >= WINDOW_MS) this.#streak.reset();
      this.#provokedAt[0] = now + 1;
      this.#streak.recordProvokedFailure(this.#hash, limit);
      return this.#streak.points >= PROVOKED_FAILURES;
    });
    if (isDecisive) this.#recordDecisive(reason);
  }

  #recordDecisive(reason: string): void {
    this.#results.add(false, this.#now());
    this.#reason.set(reason);
    this.#cells[HAS_FAILURE] = 1;
    this.#onChange();
    this.#startTimer();
  }

  /** Time alone can change the state after a failure. */
  #check(): void {
    this.#timer = undefined;
    this.#onChange();
    const now = this.#now();
    if (now - this.#results.sum(now).failedAt < WINDOW_MS) this.#startTimer();
    else this.#cells[HAS_FAILURE] = 0;
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => this.#check(), UNANIMOUS_MS).unref();
  }
}
