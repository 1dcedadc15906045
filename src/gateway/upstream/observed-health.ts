import type { FailureSource } from '../../circuit-breaker/circuit-breaker.ts';
import { FailureStreak } from '../../circuit-breaker/failure-streak.ts';
import { RecentClients } from '../../circuit-breaker/recent-clients.ts';
import type { HealthState } from './health-state.ts';

/** An older observation says nothing about the present. */
const WINDOW_MS = 60_000;
/** After this time with one result only, earlier results of the other kind no longer count. */
const UNANIMOUS_MS = 1_000;
/** The weight of an observation halves in this time. */
const HALF_LIFE_MS = 10_000;
/** Consecutive failures that requests may provoke, before the first of them counts. */
const PROVOKED_FAILURES = 3;
/** The most of these that count for one client while several clients use the endpoint. */
const PROVOKED_FAILURES_PER_CLIENT = PROVOKED_FAILURES - 1;
/** The statuses with which an upstream reports that it is not available. Other 5xx may concern only the request. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * The health of an endpoint by the requests of the last minute: unhealthy if more of them failed than succeeded, and recent ones
 * count more. A failure that no request can cause counts at once. Failures that a request may provoke count once several follow each
 * other without a success, and while several clients use the endpoint, no client alone makes it unhealthy.
 */
export class ObservedHealth {
  readonly #now: () => number;
  readonly #onChange: () => void;
  readonly #streak = new FailureStreak();
  readonly #clients: RecentClients;
  #successes = 0;
  #failures = 0;
  #weightedAt = 0;
  #latest: Exclude<HealthState, 'unknown'> = 'healthy';
  #succeededAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #provokedAt = Number.NEGATIVE_INFINITY;
  #reason: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param onChange called whenever the state may have changed to or from unhealthy, also by the passage of time
   * @param now milliseconds of a monotonic clock
   */
  constructor(onChange: () => void = () => undefined, now: () => number = () => performance.now()) {
    this.#onChange = onChange;
    this.#now = now;
    this.#clients = new RecentClients(now);
  }

  get state(): HealthState {
    const now = this.#now();
    const [sinceSuccess, sinceFailure] = [now - this.#succeededAt, now - this.#failedAt];
    if (Math.min(sinceSuccess, sinceFailure) >= WINDOW_MS) return 'unknown';
    if (Math.max(sinceSuccess, sinceFailure) >= UNANIMOUS_MS) return this.#latest;
    return this.#failures > this.#successes ? 'unhealthy' : 'healthy';
  }

  /** The reason of the latest failure, as in the access log; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.state === 'unhealthy' ? this.#reason : undefined;
  }

  /** A response began. A status above 504, and 500 and 501, show neither that the endpoint works nor that it fails. */
  recordResponse(status: number, client: string): void {
    this.#clients.record(client);
    if (UNAVAILABLE_STATUSES.has(status)) {
      this.#recordProvoked(client, `upstream_status_${status}`);
    } else if (status < 500) {
      this.#decay();
      this.#successes += 1;
      this.#latest = 'healthy';
      this.#succeededAt = this.#weightedAt;
      if (this.#timer !== undefined) this.#onChange();
    }
  }

  /** A response is complete. */
  recordCompletion(status: number): void {
    if (status < 500) this.#streak.reset();
  }

  /** @param status the status of the response if it began, otherwise 0 */
  recordFailure(source: FailureSource, client: string, reason: string, status: number): void {
    if (source === 'client' || source === 'gateway') return;
    this.#clients.record(client);
    // The beginning of the response counted as a success.
    if (status > 0 && status < 500) this.#successes = Math.max(0, this.#successes - 1);
    if (source === 'endpoint') this.#recordDecisive(reason);
    else this.#recordProvoked(client, reason);
  }

  /** Discards all observations, because a newer result of another kind contradicts them. */
  reset(): void {
    this.#streak.reset();
    this.#successes = 0;
    this.#failures = 0;
    this.#succeededAt = Number.NEGATIVE_INFINITY;
    this.#failedAt = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #recordProvoked(client: string, reason: string): void {
    const now = this.#now();
    if (now - this.#provokedAt >= WINDOW_MS) this.#streak.reset();
    this.#provokedAt = now;
    const limit = this.#clients.hasSeveral ? PROVOKED_FAILURES_PER_CLIENT : PROVOKED_FAILURES;
    this.#streak.recordProvokedFailure(client, limit);
    if (this.#streak.points >= PROVOKED_FAILURES) this.#recordDecisive(reason);
  }

  #recordDecisive(reason: string): void {
    this.#decay();
    this.#failures += 1;
    this.#latest = 'unhealthy';
    this.#failedAt = this.#weightedAt;
    this.#reason = reason;
    this.#onChange();
    this.#timer ??= setTimeout(() => this.#check(), UNANIMOUS_MS).unref();
  }

  /** Time alone can change the state after a failure. */
  #check(): void {
    this.#timer = undefined;
    this.#onChange();
    if (this.#now() - this.#failedAt < WINDOW_MS) this.#timer = setTimeout(() => this.#check(), UNANIMOUS_MS).unref();
  }

  #decay(): void {
    const now = this.#now();
    const factor = 2 ** ((this.#weightedAt - now) / HALF_LIFE_MS);
    this.#successes *= factor;
    this.#failures *= factor;
    this.#weightedAt = now;
  }
}
