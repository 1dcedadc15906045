import { FailureStreak } from './failure-streak.ts';
import { RecentClients } from './recent-clients.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * The party that can cause a failure. It decides how the circuit breaker counts the failure. `endpoint`: no request can cause it,
 * so it always counts. `request`: a hostile request may provoke it, so the failures of one client count only up to a limit.
 * `client`: the client caused it, so it never counts. `gateway`: this process lacks file descriptors or memory, which is no sign
 * of a failing endpoint, so it never counts either.
 */
export type FailureSource = 'endpoint' | 'request' | 'client' | 'gateway';

/** The settings of a breaker: when it opens, and how it tries the service again. */
export interface BreakerRule {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** The time after it opens in which it lets no request through. */
  readonly pauseMs: number;
  /** The most failures that count for one client while several clients use the service. Default: half of `failures`. */
  readonly failuresPerClient?: number;
  /** The time between the first trial and the second. It doubles with each trial, up to `pauseMs`. Default: one second. */
  readonly trialMs?: number;
  /** True if clients whose failures opened it get a trial after all others. */
  readonly isTrialForOthersFirst?: boolean;
}

const TRIAL_MS = 1_000;
/** Limits the memory for clients that had a trial. */
const MAX_TRIAL_CLIENTS = 1_024;

/**
 * A circuit breaker. It opens after `failures` consecutive failures. After `pauseMs` it is half-open: one request goes through as
 * a trial, and the first response closes the breaker. A trial without a result blocks other requests only for a while, so that no
 * client can keep the endpoint out of service. Then another request is a trial; clients that have had none go first.
 *
 * While several clients use the endpoint, failures that a request may provoke count for at most half of `failures` per client, and
 * such a failure is not the result of a trial.
 */
export class CircuitBreaker {
  readonly #settings: BreakerRule;
  readonly #now: () => number;
  readonly #publish: (state: BreakerState) => void;
  readonly #streak = new FailureStreak();
  readonly #clients: RecentClients;
  #isClosed = true;
  #openUntil = 0;
  /** Trials since the last opening. */
  #trials = 0;
  #nextTrialAt = 0;
  /** Clients whose trials come last: a trial of theirs did not close the breaker, or their failures opened it. */
  readonly #triedClients = new Set<string>();
  /** How often the breaker opened. */
  openings = 0;

  /**
   * @param publish receives every change between closed and open
   * @param now milliseconds of a monotonic clock
   */
  constructor(
    settings: BreakerRule,
    publish: (state: BreakerState) => void = () => undefined,
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

  /** True if a request of this client may go through: always while closed, only as a trial while half-open. */
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

  /** Lets a request through. Returns the current value of `openings` if the request is a trial, otherwise 0. */
  beginRequest(client: string): number {
    this.#clients.record(client);
    if (this.#isClosed) return 0;
    const now = this.#now();
    if (now < this.#openUntil) return 0;
    this.#trials += 1;
    this.#rememberTrial(client);
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

  /** The client left after it had waited much longer than this endpoint normally takes. */
  recordAbandoned(client: string): void {
    if (!this.#isClosed) return;
    this.#streak.recordAbandoned(client);
    this.#openIfDue();
  }

  get #limitPerClient(): number {
    if (!this.#clients.hasSeveral) return Number.POSITIVE_INFINITY;
    const { failures, failuresPerClient = Math.ceil(failures / 2) } = this.#settings;
    // With `failures: 1` this is half a point, so one client is never enough.
    return Math.min(failuresPerClient, failures - 0.5);
  }

  get #trialMs(): number {
    const { pauseMs, trialMs = TRIAL_MS } = this.#settings;
    return Math.min(pauseMs, trialMs * 2 ** Math.max(0, this.#trials - 1));
  }

  #isCurrent(trial: number): boolean {
    return !this.#isClosed && trial === this.openings;
  }

  /** Ends a trial without a result, so that the next request is a trial. */
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
    if (this.#settings.isTrialForOthersFirst) for (const client of this.#streak.clients) this.#rememberTrial(client);
    this.#streak.reset();
    this.#publish('open');
  }

  #rememberTrial(client: string): void {
    if (this.#triedClients.size < MAX_TRIAL_CLIENTS) this.#triedClients.add(client);
  }
}
