import { setTimeout as sleep } from 'node:timers/promises';
import type { NameResolver } from '../dns/name-resolver.ts';
import { type Log, ThrottledWarning } from '../log/log.ts';
import type { CounterStore } from './compile-stores.ts';
import type { StoreFailureReason, StoreState, StoreStatus } from './rate-limit.ts';
import { inTime } from './redis/deadline.ts';
import { runScript, type Script } from './redis/gcra-script.ts';
import { openResponsive } from './redis/redis-connection.ts';
import type { RedisConnection } from './redis/redis-link.ts';
import { StoreError, storeErrorOf } from './redis/store-error.ts';

/** Consecutive decisions that came too late, after which no request waits for the store. */
const MAX_TIMEOUTS = 3;
/** Bounds the memory of commands that wait for a response. */
const MAX_PENDING = 4_096;
/** The pause before an attempt to connect. It doubles until the store was up for `STABLE_MS`. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
const STABLE_MS = 10_000;

/**
 * The connection to a store, and its circuit breaker. While the store does not respond, decisions fail at once, and the
 * gateway tries to connect in the background.
 */
export class LiveStore {
  readonly store: CounterStore;
  readonly #resolver: NameResolver;
  readonly #logger: Log['logger'];
  readonly #late: ThrottledWarning;
  readonly #closing = new AbortController();
  readonly #failures = new Map<StoreFailureReason, number>();
  #state: StoreState = 'connecting';
  #since = Date.now();
  #reason: StoreFailureReason = 'connecting';
  #connection: RedisConnection | undefined;
  #timeouts = 0;
  #pending = 0;
  #onIdle: () => void = () => undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #pauseTimer: NodeJS.Timeout | undefined;
  #decisionsWithout = 0;
  /** `#decisionsWithout` when the store failed. */
  #decisionsBefore = 0;

  constructor(store: CounterStore, resolver: NameResolver, logger: Log['logger']) {
    this.store = store;
    this.#resolver = resolver;
    this.#logger = logger;
    this.#late = new ThrottledWarning(logger, 'a rate limit store made no decision in time');
  }

  get status(): StoreStatus {
    return {
      id: this.store.id,
      state: this.#state,
      since: this.#since,
      reason: this.#state === 'down' ? this.#reason : undefined,
      failures: this.#failures,
      decisionsWithout: this.#decisionsWithout,
      pending: this.#pending,
    };
  }

  /** The reason why no request may wait for the store; `undefined` if one may. */
  get obstacle(): StoreFailureReason | undefined {
    if (this.#connection === undefined) return this.#reason;
    return this.#pending >= MAX_PENDING ? 'busy' : undefined;
  }

  /** Connects in the background. @returns a promise that resolves after the first attempt, successful or not */
  async start(): Promise<void> {
    try {
      const options = { resolver: this.#resolver, signal: this.#closing.signal };
      const connection = await openResponsive(this.store, options);
      if (this.#closing.signal.aborted) connection.close();
      else this.#activate(connection);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const { reason } = storeErrorOf(error);
      this.#countFailure(reason);
      this.#reportDown(reason);
      this.#attemptLater();
    }
  }

  /** Counts a decision that is made without the store. */
  recordWithout(reason: StoreFailureReason): void {
    this.#decisionsWithout += 1;
    // Otherwise the log already has a line about the failure of the store.
    if (this.#connection !== undefined) this.#late.add({ store: this.store.id, reason });
  }

  /** Runs a script within the time limit of the store, if there is no `obstacle`. @throws StoreError */
  async run(script: Script, key: string, values: readonly number[]): Promise<readonly number[]> {
    const connection = this.#connection;
    if (connection === undefined) throw new StoreError(this.#reason);
    this.#pending += 1;
    const response = runScript(connection, script, key, values);
    const onSettled = () => {
      this.#pending -= 1;
      if (this.#pending === 0) this.#onIdle();
    };
    response.then(onSettled, onSettled);
    try {
      const result = await inTime(response, this.store.timeoutMs);
      this.#timeouts = 0;
      return result;
    } catch (error) {
      const failure = storeErrorOf(error);
      this.#countFailure(failure.reason);
      if (connection !== this.#connection) throw failure;
      // A store that always responds too late must not keep every request waiting.
      if (failure.reason === 'timeout') this.#timeouts += 1;
      if (failure.reason !== 'timeout' || this.#timeouts >= MAX_TIMEOUTS) this.#fail(failure.reason);
      throw failure;
    }
  }

  /** Closes the connection after the pending decisions, or after their time limit. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearTimeout(this.#pauseTimer);
    if (this.#pending > 0 && this.#connection !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      await Promise.race([promise, sleep(this.store.timeoutMs, undefined, { ref: false })]);
    }
    this.#connection?.close();
    this.#connection = undefined;
  }

  #fail(reason: StoreFailureReason): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    connection.close();
    if (this.#closing.signal.aborted) return;
    if (Date.now() - this.#since > STABLE_MS) this.#pauseMs = FIRST_PAUSE_MS;
    this.#reportDown(reason);
    this.#attemptLater();
  }

  #countFailure(reason: StoreFailureReason): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  #reportDown(reason: StoreFailureReason): void {
    this.#reason = reason;
    if (this.#state === 'down') return;
    this.#setState('down');
    this.#decisionsBefore = this.#decisionsWithout;
    const { id, onFailure } = this.store;
    this.#logger.warn({ store: id, reason, on_failure: onFailure }, 'rate limit store failed');
  }

  #setState(state: StoreState): void {
    this.#state = state;
    this.#since = Date.now();
  }

  #attemptLater(): void {
    const pauseMs = this.#pauseMs * (0.5 + Math.random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    this.#pauseTimer = setTimeout(() => void this.start(), pauseMs).unref();
  }

  #activate(connection: RedisConnection): void {
    const seconds = Math.round((Date.now() - this.#since) / 1_000);
    const isBack = this.#state === 'down';
    this.#connection = connection;
    this.#timeouts = 0;
    connection.onLost = ({ reason }) => {
      if (connection === this.#connection) this.#fail(reason);
    };
    this.#setState('up');
    if (!isBack) return;
    const decisions = this.#decisionsWithout - this.#decisionsBefore;
    this.#logger.info(
      { store: this.store.id, seconds, decisions_without: decisions },
      'rate limit store responds again',
    );
  }
}
