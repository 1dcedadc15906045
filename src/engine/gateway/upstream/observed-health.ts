import { type BufferParts, privateParts } from '../../shared-memory/buffer-parts.ts';
import { SharedText, textMemory } from '../../shared-memory/shared-text.ts';
import { SINGLE_WORKER, sharedNow, type WorkerPlace } from '../../shared-memory/worker-context.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import { FailureStreak, streakMemory } from '../circuit-breaker/failure-streak.ts';
import type { HealthState } from './health-check.ts';

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

/** The weight of a result halves in this time. */
const HALF_LIFE_MS = 10_000;

/** The results of a worker are on a cache line of its own, so that none waits for another. */
const STRIDE = 8;
/** The weight of the failures without that of the successes, at the time of the latest result. */
const BALANCE = 0;
const SUCCEEDED_AT = 1;
const FAILED_AT = 2;
const COLUMNS = 3;

/** @param workers the number of workers */
export function observedHealthMemory(parts: BufferParts, workers: number) {
  return {
    results: parts.float64(workers * STRIDE),
    // Earlier results do not count. So a reset writes to no row of another worker.
    resetAt: parts.float64(1),
    streak: streakMemory(parts, PROVOKED_FAILURES),
    // The latest failure of the streak; 0 without one.
    provokedAt: parts.float64(1),
    reason: textMemory(parts),
    // The latest failure that counted.
    failedAt: parts.float64(1),
  };
}

type ObservedHealthMemory = ReturnType<typeof observedHealthMemory>;

interface ObservedHealthOptions {
  /** Called whenever the state may have changed to or from unhealthy, also by the passage of time. */
  readonly onChange?: () => void;
  /** Returns the milliseconds of a monotonic clock that all workers share. It is never 0. */
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
  readonly #memory: ObservedHealthMemory;
  /** The first cell of the results of this worker. */
  readonly #own: number;
  readonly #streak: FailureStreak;
  readonly #reason: SharedText;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    onChange = () => undefined,
    now = sharedNow,
    memory = privateParts((parts) => observedHealthMemory(parts, SINGLE_WORKER.count)),
    worker = SINGLE_WORKER,
  }: ObservedHealthOptions = {}) {
    this.#onChange = onChange;
    this.#now = now;
    this.#memory = memory;
    this.#own = worker.index * STRIDE;
    this.#streak = new FailureStreak(memory.streak, now);
    this.#reason = new SharedText(memory.reason);
  }

  get state(): HealthState {
    const { results, resetAt } = this.#memory;
    const now = this.#now();
    let [succeededAt, failedAt, balance] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
    for (let row = 0; row < results.length; row += STRIDE) {
      const [rowBalance = 0, rowSucceededAt = 0, rowFailedAt = 0] = results.subarray(row, row + COLUMNS);
      const at = Math.max(rowSucceededAt, rowFailedAt);
      if (at <= (resetAt[0] as number)) continue;
      succeededAt = Math.max(succeededAt, rowSucceededAt);
      failedAt = Math.max(failedAt, rowFailedAt);
      balance += rowBalance * 2 ** ((at - now) / HALF_LIFE_MS);
    }
    if (now - Math.max(succeededAt, failedAt) >= WINDOW_MS) return 'unknown';
    const isUnanimous = now - Math.min(succeededAt, failedAt) >= UNANIMOUS_MS;
    return (isUnanimous ? failedAt >= succeededAt : balance > 0) ? 'unhealthy' : 'healthy';
  }

  /** The reason of the latest failure, as in the access log; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.state === 'unhealthy' ? this.#reason.value : undefined;
  }

  /** A response began. 500, 501 and a status above 504 count as neither success nor failure. @param now by `sharedNow()` */
  recordResponse(status: number, client: string, now: number): void {
    this.#streak.recordClient(client);
    if (UNAVAILABLE_STATUSES.has(status)) {
      this.#recordProvoked(client, `upstream_status_${status}`);
    } else if (status < 500) {
      this.#addResult(SUCCEEDED_AT, now);
      if (now - (this.#memory.failedAt[0] as number) < WINDOW_MS) this.#onChange();
    }
  }

  /** A response is complete. */
  recordCompletion(status: number): void {
    if (status < 500 && this.#memory.provokedAt[0] !== 0) this.#resetStreak();
  }

  /** @param status the status of the latest head, informational responses included; 0 before it */
  recordFailure(source: FailureSource, client: string, reason: string, status: number): void {
    if (source === 'client' || source === 'gateway') return;
    this.#streak.recordClient(client);
    // The beginning of the response counted as a success.
    if (status >= 200 && status < 500) (this.#memory.results[this.#own + BALANCE] as number) += 1;
    if (source === 'endpoint') this.#recordDecisive(reason);
    else this.#recordProvoked(client, reason);
  }

  /** Discards all observations, because a newer result of another kind contradicts them. */
  reset(): void {
    this.#resetStreak();
    this.#memory.resetAt[0] = this.#now();
  }

  /** Continues to report changes by the passage of time in place of a worker that ended. */
  forgetWorker(): void {
    this.#startTimer();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #resetStreak(): void {
    this.#streak.run(() => {
      this.#streak.reset();
      this.#memory.provokedAt[0] = 0;
    });
  }

  #recordProvoked(client: string, reason: string): void {
    const { provokedAt } = this.#memory;
    const now = this.#now();
    const limit = this.#streak.hasSeveralClients ? PROVOKED_FAILURES_PER_CLIENT : PROVOKED_FAILURES;
    const isDecisive = this.#streak.run(() => {
      if (now - (provokedAt[0] as number) >= WINDOW_MS) this.#streak.reset();
      provokedAt[0] = now;
      this.#streak.recordFailure(limit);
      return this.#streak.points >= PROVOKED_FAILURES;
    }, client);
    if (isDecisive) this.#recordDecisive(reason);
  }

  #recordDecisive(reason: string): void {
    const now = this.#now();
    this.#addResult(FAILED_AT, now);
    this.#reason.set(reason);
    this.#memory.failedAt[0] = now;
    this.#onChange();
    this.#startTimer();
  }

  #addResult(column: typeof SUCCEEDED_AT | typeof FAILED_AT, now: number): void {
    const { results, resetAt } = this.#memory;
    const own = this.#own;
    const at = Math.max(results[own + SUCCEEDED_AT] as number, results[own + FAILED_AT] as number);
    if (at > (resetAt[0] as number)) {
      (results[own + BALANCE] as number) *= 2 ** ((at - now) / HALF_LIFE_MS);
    } else {
      results.fill(Number.NEGATIVE_INFINITY, own, own + COLUMNS);
      results[own + BALANCE] = 0;
    }
    (results[own + BALANCE] as number) += column === FAILED_AT ? 1 : -1;
    results[own + column] = now;
  }

  /** Time alone can change the state after a failure. */
  #check(): void {
    this.#timer = undefined;
    this.#onChange();
    if (this.#now() - (this.#memory.failedAt[0] as number) < WINDOW_MS) this.#startTimer();
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => this.#check(), UNANIMOUS_MS).unref();
  }
}
