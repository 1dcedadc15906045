import { type BufferParts, privateParts } from '../../shared-memory/buffer-parts.ts';
import { sharedNow } from '../../shared-memory/worker-context.ts';
import { addClient, FailureStreak, streakMemory } from './failure-streak.ts';

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

/** Limits the memory for clients that had a trial. */
const MAX_TRIAL_CLIENTS = 256;

/** The indexes of `BreakerMemory.cells` and `BreakerMemory.times`. */
const CELLS = { isOpen: 0, trials: 1, openings: 2, trialWorker: 3, length: 4 } as const;
const TIMES = { openUntil: 0, nextTrialAt: 1, length: 2 } as const;

export function breakerMemory(parts: BufferParts, { failures }: BreakerRule) {
  return {
    cells: parts.int32(CELLS.length),
    times: parts.float64(TIMES.length),
    streak: streakMemory(parts, failures),
    // Clients whose trials come last: a trial of theirs did not close the breaker, or their failures opened it.
    triedClients: parts.float64(MAX_TRIAL_CLIENTS),
  };
}

/** The state of a breaker, which several threads may share. Zeros are a closed breaker. */
type BreakerMemory = ReturnType<typeof breakerMemory>;

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * The party that can cause a failure. It decides how the circuit breaker counts the failure. `endpoint`: no request can cause it,
 * so it always counts. `request`: a hostile request may provoke it, so the failures of one client count only up to a limit.
 * `client`: the client caused it, so it never counts. `gateway`: this process lacks file descriptors or memory, which is no sign
 * of a failing endpoint, so it never counts either.
 */
export type FailureSource = 'endpoint' | 'request' | 'client' | 'gateway';

const TRIAL_MS = 1_000;
interface BreakerOptions {
  /** Receives every change between closed and open that this thread causes. */
  readonly publish?: (state: BreakerState) => void;
  /** Returns the milliseconds of a monotonic clock that all threads share. */
  readonly now?: () => number;
  /** By default the breaker shares its state with no other thread. */
  readonly memory?: BreakerMemory;
  /** The index of this thread. */
  readonly worker?: number;
}

/**
 * A circuit breaker. It opens after `failures` consecutive failures. After `pauseMs` it is half-open: one request goes through as
 * a trial, and the first response closes the breaker. A trial without a result blocks other requests only for a while, so that no
 * client can keep the endpoint out of service. Then another request is a trial; clients that have had none go first.
 *
 * While several clients use the endpoint, failures that a request may provoke count for at most half of `failures` per client, and
 * such a failure is not the result of a trial.
 *
 * All threads with the same memory have one breaker. While it is closed and counts no failure, requests take no lock.
 */
export class CircuitBreaker {
  readonly #settings: BreakerRule;
  readonly #now: () => number;
  readonly #publish: (state: BreakerState) => void;
  readonly #worker: number;
  readonly #cells: Int32Array;
  readonly #times: Float64Array;
  readonly #triedClients: Float64Array;
  readonly #streak: FailureStreak;

  constructor(
    settings: BreakerRule,
    {
      publish = () => undefined,
      now = sharedNow,
      memory = privateParts((parts) => breakerMemory(parts, settings)),
      worker = 0,
    }: BreakerOptions = {},
  ) {
    this.#settings = settings;
    this.#publish = publish;
    this.#now = now;
    this.#worker = worker;
    this.#cells = memory.cells;
    this.#times = memory.times;
    this.#triedClients = memory.triedClients;
    this.#streak = new FailureStreak(memory.streak, now);
  }

  get state(): BreakerState {
    if (this.#isClosed) return 'closed';
    return this.#now() >= this.#openUntil ? 'half-open' : 'open';
  }

  /** How often the breaker opened. */
  get openings(): number {
    return this.#cells[CELLS.openings] as number;
  }

  /**
   * True if a request may go through: always while closed, only as a trial while half-open.
   *
   * @param client by default any client
   */
  isAllowed(client?: string): boolean {
    if (this.#isClosed) return true;
    if (client === undefined) return this.#now() >= this.#nextTrialAt;
    // A client whose requests are refused uses the endpoint too.
    this.#streak.recordClient(client);
    return this.#streak.run(() => this.#isClosed || this.#isTrialDue(), client);
  }

  /**
   * Lets a request through. Returns the value of `openings` if it is a trial, otherwise 0; `undefined` if the request is not allowed,
   * because another thread may have begun a trial.
   *
   * @param isForced true for a request that goes through even if it is not allowed
   */
  beginRequest(client: string, isForced = false): number | undefined {
    this.#streak.recordClient(client);
    if (this.#isClosed) return 0;
    return this.#streak.run(() => {
      if (this.#isClosed) return 0;
      if (isForced ? this.#now() >= this.#openUntil : this.#isTrialDue()) return this.#beginTrial();
      return isForced ? 0 : undefined;
    }, client);
  }

  /** A response began. */
  recordResponse(): void {
    if (this.#isClosed) return;
    const hasClosed = this.#streak.run(() => {
      if (this.#isClosed) return false;
      this.#cells[CELLS.isOpen] = 0;
      this.#cells[CELLS.trialWorker] = 0;
      this.#triedClients.fill(0);
      this.#streak.reset();
      return true;
    });
    if (hasClosed) this.#publish('closed');
  }

  /** A response is complete. */
  recordSuccess(): void {
    if (!this.#streak.isEmpty) this.#streak.run(() => this.#streak.reset());
  }

  recordFailure(source: FailureSource, client: string, trial: number): void {
    if ((source === 'client' || source === 'gateway') && this.#isClosed) return;
    if (this.#streak.run(() => this.#countFailure(source, trial), client)) this.#publish('open');
  }

  /** Ends the trial of a thread that ended. */
  forgetWorker(worker: number): void {
    this.#streak.run(() => {
      if (this.#cells[CELLS.trialWorker] === worker + 1) this.#release(this.openings);
    });
  }

  get #isClosed(): boolean {
    return this.#cells[CELLS.isOpen] === 0;
  }

  get #openUntil(): number {
    return this.#times[TIMES.openUntil] as number;
  }

  get #nextTrialAt(): number {
    return this.#times[TIMES.nextTrialAt] as number;
  }

  get #trials(): number {
    return this.#cells[CELLS.trials] as number;
  }

  get #limitPerClient(): number {
    if (!this.#streak.hasSeveralClients) return Number.POSITIVE_INFINITY;
    const { failures, failuresPerClient = Math.ceil(failures / 2) } = this.#settings;
    // With `failures: 1` this is half a point, so one client is never enough.
    return Math.min(failuresPerClient, failures - 0.5);
  }

  get #trialMs(): number {
    const { pauseMs, trialMs = TRIAL_MS } = this.#settings;
    return Math.min(pauseMs, trialMs * 2 ** Math.max(0, this.#trials - 1));
  }

  // The methods below belong into `run` of the streak.

  #isTrialDue(): boolean {
    const isRepeated = this.#triedClients.includes(this.#streak.client) && this.#streak.hasSeveralClients;
    return this.#now() >= this.#nextTrialAt + (isRepeated ? this.#trialMs : 0);
  }

  #beginTrial(): number {
    this.#cells[CELLS.trials] = this.#trials + 1;
    this.#cells[CELLS.trialWorker] = this.#worker + 1;
    addClient(this.#triedClients, this.#streak.client);
    this.#times[TIMES.nextTrialAt] = this.#now() + this.#trialMs;
    return this.openings;
  }

  #isCurrent(trial: number): boolean {
    return !this.#isClosed && trial === this.openings;
  }

  /** Ends a trial without a result, so that the next request is a trial. */
  #release(trial: number): void {
    if (!this.#isCurrent(trial)) return;
    this.#cells[CELLS.trials] = this.#trials - 1;
    this.#cells[CELLS.trialWorker] = 0;
    this.#times[TIMES.nextTrialAt] = this.#openUntil;
  }

  /** Returns true if the failure opens the breaker. */
  #countFailure(source: FailureSource, trial: number): boolean {
    if (source === 'client' || source === 'gateway') {
      this.#release(trial);
      return false;
    }
    if (!this.#isClosed) {
      // Neither a request from before the opening nor a client can extend the pause.
      const isResult = this.#isCurrent(trial) && (source === 'endpoint' || !this.#streak.hasSeveralClients);
      if (isResult) this.#open();
      return isResult;
    }
    this.#streak.recordFailure(source === 'endpoint' ? undefined : this.#limitPerClient);
    const isDue = this.#streak.points >= this.#settings.failures;
    if (isDue) this.#open();
    return isDue;
  }

  #open(): void {
    this.#times[TIMES.openUntil] = this.#now() + this.#settings.pauseMs;
    this.#times[TIMES.nextTrialAt] = this.#openUntil;
    this.#cells[CELLS.trials] = 0;
    this.#cells[CELLS.trialWorker] = 0;
    this.#cells[CELLS.openings] = this.openings + 1;
    if (this.#settings.isTrialForOthersFirst) this.#streak.addProvokedTo(this.#triedClients);
    this.#streak.reset();
    // Last: other threads read the times without the lock once they see it.
    Atomics.store(this.#cells, CELLS.isOpen, 1);
  }
}
