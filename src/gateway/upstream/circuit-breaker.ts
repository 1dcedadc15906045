import type { BreakerSettings } from '../../plan/settings/upstream-definition.ts';
import type { FailureSource } from './failure-sources.ts';
import { FailureStreak } from './failure-streak.ts';
import { RecentClients } from './recent-clients.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** How long the first trial blocks the next one. Each further trial blocks twice as long, up to the pause. */
const TRIAL_MS = 1_000;
/** Limits the memory for clients that had a trial. */
const MAX_TRIAL_CLIENTS = 1_024;

/**
 * A circuit breaker. It opens after `failures` consecutive failures. After `pauseMs` it is half-open: one request goes through as
 * a trial, and the first response closes the breaker. A trial without a result blocks others only for a while, so that no client
 * can keep the endpoint out of service. Then another request goes through, first of a client that had no trial yet.
 *
 * While several clients use the endpoint, one client can contribute at most half of `failures` by failures that a request may
 * provoke, and such a failure is no result of a trial.
 */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #now: () => number;
  readonly #publish: (state: BreakerState) => void;
  readonly #streak = new FailureStreak();
  readonly #clients: RecentClients;
  #isClosed = true;
  #openUntil = 0;
  /** Trials since the last opening. */
  #trials = 0;
  #nextTrialAt = 0;
  /** Clients whose trial did not close the breaker. */
  readonly #triedClients = new Set<string>();
  /** How often the breaker opened. */
  openings = 0;

  /**
   * @param publish receives every change between closed and open
   * @param now milliseconds of a monotonic clock
   */
  constructor(
    settings: BreakerSettings,
    publish: (state: BreakerState) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#settings = settings;
    this.#publish = publish;
    this.#now = now;
    this.#clients = new RecentClients(now);
  }

  get state(): BreakerState {
    if (this.#isClosed) return 'closed';
    return this.#now() >= this.#openUntil ? 'half-open' : 'open';
  }

  /** True if a request of this client may go through: any while closed, trials while half-open. */
  isAllowed(client: string): boolean {
    if (this.#isClosed) return true;
    // A client whose requests are refused uses the endpoint too.
    this.#clients.record(client);
    const isRepeated = this.#triedClients.has(client) && this.#clients.hasSeveral;
    return this.#now() >= this.#nextTrialAt + (isRepeated ? this.#trialMs : 0);
  }

  /** True if any request may go through now. */
  get isAnyAllowed(): boolean {
    return this.#isClosed || this.#now() >= this.#nextTrialAt;
  }

  /** Lets a request through. Returns the number of the opening that the request is a trial of; 0 if it is not a trial. */
  beginRequest(client: string): number {
    this.#clients.record(client);
    if (this.#isClosed) return 0;
    const now = this.#now();
    if (now < this.#openUntil) return 0;
    this.#trials += 1;
    if (this.#triedClients.size < MAX_TRIAL_CLIENTS) this.#triedClients.add(client);
    this.#nextTrialAt = now + this.#trialMs;
    return this.openings;
  }

  /** A response began. */
  recordResponse(): void {
    this.#streak.recordResponse();
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#triedClients.clear();
    this.#streak.reset();
    this.#publish('closed');
  }

  /** A response is complete. */
  recordSuccess(): void {
    this.#streak.reset();
  }

  recordFailure(source: FailureSource, client: string, trial: number): void {
    if (source === 'client' || source === 'gateway') {
      this.#release(trial);
    } else if (!this.#isClosed) {
      // Neither a request from before the opening nor a client can extend the pause.
      if (this.#isCurrent(trial) && (source === 'endpoint' || !this.#clients.hasSeveral)) this.#open();
    } else {
      if (source === 'endpoint') this.#streak.recordFailure();
      else this.#streak.recordProvokedFailure(client, this.#limitPerClient);
      this.#openIfDue();
    }
  }

  /** The client left after it had waited longer than this endpoint normally takes. */
  recordAbandoned(client: string): void {
    if (!this.#isClosed) return;
    this.#streak.recordAbandoned(client);
    this.#openIfDue();
  }

  get #limitPerClient(): number {
    if (!this.#clients.hasSeveral) return Number.POSITIVE_INFINITY;
    const { failures } = this.#settings;
    // With `failures: 1` this is half a point, so one client is never enough.
    return Math.min(Math.ceil(failures / 2), failures - 0.5);
  }

  get #trialMs(): number {
    return Math.min(this.#settings.pauseMs, TRIAL_MS * 2 ** Math.max(0, this.#trials - 1));
  }

  #isCurrent(trial: number): boolean {
    return !this.#isClosed && trial === this.openings;
  }

  /** A trial ended without a result, so the next request is a trial. */
  #release(trial: number): void {
    if (!this.#isCurrent(trial)) return;
    this.#trials -= 1;
    this.#nextTrialAt = this.#openUntil;
  }

  #openIfDue(): void {
    if (this.#streak.points >= this.#settings.failures) this.#open();
  }

  #open(): void {
    this.#isClosed = false;
    this.#openUntil = this.#now() + this.#settings.pauseMs;
    this.#nextTrialAt = this.#openUntil;
    this.#trials = 0;
    this.openings += 1;
    this.#streak.reset();
    this.#publish('open');
  }
}
