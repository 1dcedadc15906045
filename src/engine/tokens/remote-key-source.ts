import { setTimeout as sleep } from 'node:timers/promises';
import { CircuitBreaker } from '../gateway/circuit-breaker/circuit-breaker.ts';
import { FairSemaphore } from '../gateway/fairness/fair-semaphore.ts';
import { standstills } from '../http1/event-loop.ts';
import { sharedNow } from '../shared-memory/worker-context.ts';
import { GATEWAY_CLIENT, IDENTITY_BREAKER_RULE, timeoutSignal } from './identity-endpoint.ts';
import type { VerificationKeySet } from './key-set.ts';
import type { KeySource } from './token-method.ts';
import type { KeyLookup, KeyRequest, KeyResponse } from './verifier.ts';

const FRESH_MS = 600_000;
/** Time between two attempts to replace keys that are no longer fresh. */
const RETRY_MS = 10_000;
/** Minimum time between two fetches that tokens cause, whatever their key ids are. */
const MIN_INTERVAL_MS = 2_000;
/** How long a key id that was not found causes no further fetch. */
const ABSENT_MS = 5_000;
const MAX_ABSENT = 500;
const MAX_WAITING = 2_000;

/** The version of the newest keys of any source. No two sources have keys with one version. */
let lastVersion = 0;

/** Keys that are fetched: at most one fetch at a time, within the limits above. */
export class RemoteKeySource implements KeySource {
  readonly #fetch: (signal: AbortSignal) => Promise<VerificationKeySet>;
  readonly #timeoutMs: number;
  readonly #maxAgeMs: number;
  readonly #breaker = new CircuitBreaker(IDENTITY_BREAKER_RULE);
  /** Key ids that were not found, with the time when the fetch of the keys began. */
  readonly #absentIds = new Map<string, number>();
  cachedKeys: VerificationKeySet | undefined;
  #version: Int32Array = new Int32Array(1);
  lastError: string | undefined;
  #lastFetchAt = Number.NEGATIVE_INFINITY;
  /** When the fetch of the current keys began. */
  #keysAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<boolean> | undefined;
  #delay: Promise<void> | undefined;
  readonly #waiting = new FairSemaphore(MAX_WAITING);
  #fetches = 0;
  #failedFetches = 0;

  /**
   * @param fetch rejects if it finds no keys
   * @param limits the timeout of one fetch, and how long the last keys are used after they are no longer fresh
   */
  constructor(
    fetch: (signal: AbortSignal) => Promise<VerificationKeySet>,
    limits: { timeoutMs: number; staleMs: number },
  ) {
    this.#fetch = fetch;
    this.#timeoutMs = limits.timeoutMs;
    this.#maxAgeMs = FRESH_MS + limits.staleMs;
  }

  get status(): NonNullable<KeySource['status']> {
    // Without requests nothing fetches keys, so old keys without a failed fetch are not an error.
    const isExpired = elapsedMs(this.#keysAt) > this.#maxAgeMs && this.lastError !== undefined;
    const isStale = this.cachedKeys === undefined || isExpired;
    const keys = this.#keysAt === Number.NEGATIVE_INFINITY ? 'unknown' : isStale ? 'stale' : 'known';
    return { keys, fetches: this.#fetches, failedFetches: this.#failedFetches };
  }

  async current(): Promise<VerificationKeySet | undefined> {
    const age = elapsedMs(this.#keysAt);
    // After hours without a request, the keys may be too old to use.
    if (this.cachedKeys === undefined || age > this.#maxAgeMs) await this.#fetchOnce();
    else if (age > FRESH_MS && elapsedMs(this.#lastFetchAt) > RETRY_MS) void this.#fetchOnce();
    return elapsedMs(this.#keysAt) > this.#maxAgeMs ? undefined : this.cachedKeys;
  }

  async refresh(
    keys: VerificationKeySet,
    { keyId = '', receivedAtMs, isUnknownKeyId, clientKey }: KeyLookup,
  ): Promise<VerificationKeySet | 'none' | 'unavailable'> {
    while (this.cachedKeys === keys) {
      if (elapsedMs(this.#absentIds.get(keyId)) < ABSENT_MS) return 'none';
      if (this.#keysAt >= receivedAtMs) {
        this.#rememberAbsent(keyId);
        return 'none';
      }
      if (!(await this.#fetchWhenDue(isUnknownKeyId, clientKey))) return 'unavailable';
    }
    return this.cachedKeys ?? 'unavailable';
  }

  share(version: Int32Array): void {
    Atomics.store(version, 0, Atomics.load(this.#version, 0));
    this.#version = version;
  }

  async publish({ version, lookup }: KeyRequest): Promise<KeyResponse> {
    const known = version === this.#version[0] ? this.cachedKeys : undefined;
    const result =
      known === undefined || lookup === undefined ? await this.current() : await this.refresh(known, lookup);
    if (result === 'none') return { outcome: 'none' };
    const keys = this.cachedKeys;
    if (result === undefined || result === 'unavailable' || keys === undefined)
      return { outcome: 'unavailable', cause: this.lastError };
    const current = this.#version[0] as number;
    const freshUntilMs = this.#keysAt + FRESH_MS;
    return { outcome: 'keys', version: current, freshUntilMs, keys: version === current ? undefined : keys.keys };
  }

  #rememberAbsent(keyId: string): void {
    const [oldest] = this.#absentIds.keys();
    if (this.#absentIds.size >= MAX_ABSENT && oldest !== undefined) this.#absentIds.delete(oldest);
    this.#absentIds.set(keyId, this.#keysAt);
  }

  /** Fetches the keys once `MIN_INTERVAL_MS` has passed since the last fetch. Returns true if it succeeds. */
  async #fetchWhenDue(mayWait: boolean, client: string | undefined): Promise<boolean> {
    const delayMs = MIN_INTERVAL_MS - elapsedMs(this.#lastFetchAt);
    if (this.#fetching === undefined && delayMs > 0) {
      if (!mayWait || !this.#waiting.tryAcquire(client)) return false;
      this.#delay ??= sleep(delayMs, undefined, { ref: false }).then(() => {
        this.#delay = undefined;
      });
      await this.#delay;
      this.#waiting.release(client);
    }
    return this.#fetchOnce();
  }

  /** Fetches the keys, or joins the fetch in flight. Returns true if it succeeds. */
  #fetchOnce(): Promise<boolean> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#breaker.beginRequest(GATEWAY_CLIENT) === undefined) return Promise.resolve(false);
    const startedAt = sharedNow();
    const { count } = standstills;
    this.#lastFetchAt = startedAt;
    this.#fetching = this.#fetch(timeoutSignal(this.#timeoutMs))
      .then((keys) => this.#replaceKeys(keys, startedAt))
      .catch((error: Error) => {
        this.lastError = error.message;
        this.#failedFetches += 1;
        if (!standstills.hasHappenedSince(count)) this.#breaker.recordFailure('request', GATEWAY_CLIENT, 0);
        return false;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #replaceKeys(keys: VerificationKeySet, fetchedAt: number): boolean {
    if (keys.isEmpty) {
      // The issuer has withdrawn its keys, so tokens signed with them are no longer valid.
      this.#setKeys(undefined);
      throw new Error('keys_none_usable');
    }
    this.#breaker.recordResponse();
    this.#breaker.recordSuccess();
    this.#fetches += 1;
    this.lastError = undefined;
    this.#keysAt = fetchedAt;
    // Equal keys stay the same object, so that verified tokens stay cached.
    if (keys.fingerprint !== this.cachedKeys?.fingerprint) this.#setKeys(keys);
    return true;
  }

  /** All threads see at once that the keys have changed. */
  #setKeys(keys: VerificationKeySet | undefined): void {
    this.cachedKeys = keys;
    lastVersion += 1;
    Atomics.store(this.#version, 0, lastVersion);
  }
}

function elapsedMs(time = Number.NEGATIVE_INFINITY): number {
  return sharedNow() - time;
}
