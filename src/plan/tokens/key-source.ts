import { setTimeout as sleep } from 'node:timers/promises';
import { FairSemaphore } from '../../fairness/fair-semaphore.ts';
import { IdentityBreaker } from './identity-breaker.ts';
import { timeoutSignal } from './identity-request.ts';
import type { VerificationKeySet } from './key-set.ts';
import type { VerifierStatus } from './verifier.ts';

/** Keys, as far as they are known now. */
export interface KeySource {
  /** The keys at hand. Another object as soon as the keys are others. */
  readonly cachedKeys: VerificationKeySet | undefined;
  readonly state: Exclude<VerifierStatus['keys'], 'none'>;
  /** How many questions had an answer, and how many had none. */
  readonly fetchSuccesses: number;
  readonly fetchFailures: number;
  /** Why the last question had no answer; for the log. */
  readonly lastError: string | undefined;
  /** The keys at hand, fetched first when there are none or they are too old; `undefined` when none can be had. */
  current(): Promise<VerificationKeySet | undefined>;
  /**
   * Newer keys than `known`, for a token that these do not verify. An answer to what was asked before the token
   * came proves nothing against it.
   */
  refresh(known: VerificationKeySet, wanted: KeyLookup): Promise<VerificationKeySet | 'none' | 'unavailable'>;
}

export interface KeyLookup {
  /** As the token has it. */
  readonly keyId: string | undefined;
  /** When the token came, by `performance.now()`. */
  readonly receivedAtMs: number;
  /** Whether it is worth waiting until a question may be put: a name that was never there is a new key's, or made up. */
  readonly isUnknownKeyId: boolean;
  /** The key of the client that brought the token; `undefined`: the gateway itself. */
  readonly clientKey: string | undefined;
}

const FRESH_MS = 600_000;
/** Between two tries to replace keys that are no longer fresh. */
const RETRY_MS = 10_000;
/** Between two questions that tokens drive, whatever keys they name. */
const PAUSE_MS = 2_000;
/** For so long a name that is not among the keys drives no question again. */
const COOLDOWN_MS = 5_000;
const MAX_ABSENT = 500;
const MAX_WAITING = 2_000;

export function staticKeySource(cachedKeys: VerificationKeySet): KeySource {
  return {
    cachedKeys,
    state: 'known',
    fetchSuccesses: 0,
    fetchFailures: 0,
    lastError: undefined,
    current: async () => cachedKeys,
    refresh: async () => 'none',
  };
}

/** Keys that are fetched: one question in flight, and no more of them than the limits above allow. */
export class RemoteKeySource implements KeySource {
  readonly #fetch: (signal: AbortSignal) => Promise<VerificationKeySet>;
  readonly #timeoutMs: number;
  readonly #servedMs: number;
  readonly #breaker = new IdentityBreaker();
  /** When a name was asked for in vain. */
  readonly #absent = new Map<string, number>();
  #keys: VerificationKeySet | undefined;
  #cause: string | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When that was asked to which the keys are the answer. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | undefined;
  #pausing: Promise<void> | undefined;
  readonly #waiting = new FairSemaphore(MAX_WAITING);
  fetchSuccesses = 0;
  fetchFailures = 0;

  /**
   * @param fetch throws when there are no keys to be had
   * @param limits how long a question may take, and how long the last keys serve beyond their freshness
   */
  constructor(
    fetch: (signal: AbortSignal) => Promise<VerificationKeySet>,
    limits: { timeoutMs: number; staleMs: number },
  ) {
    this.#fetch = fetch;
    this.#timeoutMs = limits.timeoutMs;
    this.#servedMs = FRESH_MS + limits.staleMs;
  }

  get cachedKeys(): VerificationKeySet | undefined {
    return this.#keys;
  }

  get state(): KeySource['state'] {
    if (this.#knownAt === Number.NEGATIVE_INFINITY) return 'unknown';
    // Keys that nobody asked for are old, and no fault.
    const isLate = elapsedMs(this.#knownAt) > this.#servedMs && this.#cause !== undefined;
    return this.#keys === undefined || isLate ? 'stale' : 'known';
  }

  get lastError(): string | undefined {
    return this.#cause;
  }

  async current(): Promise<VerificationKeySet | undefined> {
    const age = elapsedMs(this.#knownAt);
    // Keys too old to serve are as none: there may have been no request for hours.
    if (this.#keys === undefined || age > this.#servedMs) await this.#ask();
    else if (age > FRESH_MS && elapsedMs(this.#askedAt) > RETRY_MS) void this.#ask();
    return elapsedMs(this.#knownAt) > this.#servedMs ? undefined : this.#keys;
  }

  async refresh(
    known: VerificationKeySet,
    { keyId = '', receivedAtMs, isUnknownKeyId, clientKey }: KeyLookup,
  ): Promise<VerificationKeySet | 'none' | 'unavailable'> {
    while (this.#keys === known) {
      if (elapsedMs(this.#absent.get(keyId)) < COOLDOWN_MS) return 'none';
      if (this.#knownAt >= receivedAtMs) {
        this.#remember(keyId);
        return 'none';
      }
      if (!(await this.#askInTurn(isUnknownKeyId, clientKey))) return 'unavailable';
    }
    return this.#keys ?? 'unavailable';
  }

  #remember(name: string): void {
    const [oldest] = this.#absent.keys();
    if (this.#absent.size >= MAX_ABSENT && oldest !== undefined) this.#absent.delete(oldest);
    this.#absent.set(name, performance.now());
  }

  /** Asks a pause after the last question. @returns whether there was an answer */
  async #askInTurn(mayWait: boolean, client: string | undefined): Promise<boolean> {
    const pauseMs = PAUSE_MS - elapsedMs(this.#askedAt);
    if (this.#asking === undefined && pauseMs > 0) {
      if (!mayWait || !this.#waiting.tryAcquire(client)) return false;
      this.#pausing ??= sleep(pauseMs, undefined, { ref: false }).then(() => {
        this.#pausing = undefined;
      });
      await this.#pausing;
      this.#waiting.release(client);
    }
    return this.#ask();
  }

  /** Asks, or waits for the answer to what is being asked. @returns whether there was one */
  #ask(): Promise<boolean> {
    if (this.#asking !== undefined) return this.#asking;
    if (!this.#breaker.mayRequest()) return Promise.resolve(false);
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    this.#asking = this.#fetch(timeoutSignal(this.#timeoutMs))
      .then((keys) => this.#learn(keys, askedAt))
      .catch((error: Error) => {
        this.#cause = error.message;
        this.fetchFailures += 1;
        this.#breaker.recordFailure();
        return false;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #learn(keys: VerificationKeySet, askedAt: number): boolean {
    if (keys.isEmpty) {
      // The issuer's own word: what it has signed before counts no longer.
      this.#keys = undefined;
      throw new Error('keys_none_usable');
    }
    this.#breaker.recordSuccess();
    this.fetchSuccesses += 1;
    this.#cause = undefined;
    this.#knownAt = askedAt;
    // Equal keys stay the same object: tokens that were verified by them stay known.
    if (keys.fingerprint !== this.#keys?.fingerprint) this.#keys = keys;
    return true;
  }
}

function elapsedMs(time = Number.NEGATIVE_INFINITY): number {
  return performance.now() - time;
}
