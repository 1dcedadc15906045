import { setTimeout as sleep } from 'node:timers/promises';
import { SharedPlaces } from '../../fairness/shared-places.ts';
import type { VerifierStatus } from '../plan.ts';
import { Breaker } from './breaker.ts';
import type { KeySet } from './key-set.ts';
import { deadline } from './question.ts';

/** Keys, as far as they are known now. */
export interface KeySource {
  /** The keys at hand. Another object as soon as the keys are others. */
  readonly known: KeySet | undefined;
  readonly state: Exclude<VerifierStatus['keys'], 'none'>;
  /** How many questions had an answer, and how many had none. */
  readonly fetched: number;
  readonly unfetched: number;
  /** Why the last question had no answer; for the log. */
  readonly cause: string | undefined;
  /** The keys at hand, fetched first when there are none or they are too old; `undefined` when none can be had. */
  current(): Promise<KeySet | undefined>;
  /**
   * Newer keys than `known`, for a token that these do not verify. An answer to what was asked before the token
   * came proves nothing against it.
   */
  newer(known: KeySet, wanted: WantedKey): Promise<KeySet | 'none' | 'unavailable'>;
}

export interface WantedKey {
  /** As the token has it. */
  readonly name: string | undefined;
  /** When the token came, by `performance.now()`. */
  readonly cameAt: number;
  /** Whether it is worth waiting until a question may be put: a name that was never there is a new key's, or made up. */
  readonly isUnknown: boolean;
  /** The key of the client that brought the token; `undefined`: the gateway itself. */
  readonly client: string | undefined;
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

export function localKeys(keys: KeySet): KeySource {
  return {
    known: keys,
    state: 'known',
    fetched: 0,
    unfetched: 0,
    cause: undefined,
    current: async () => keys,
    newer: async () => 'none',
  };
}

/** Keys that are fetched: one question in flight, and no more of them than the limits above allow. */
export class RemoteKeys implements KeySource {
  readonly #fetch: (signal: AbortSignal) => Promise<KeySet>;
  readonly #timeoutMs: number;
  readonly #servedMs: number;
  readonly #breaker = new Breaker();
  /** When a name was asked for in vain. */
  readonly #absent = new Map<string, number>();
  #keys: KeySet | undefined;
  #cause: string | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When that was asked to which the keys are the answer. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | undefined;
  #pausing: Promise<void> | undefined;
  readonly #waiting = new SharedPlaces(MAX_WAITING);
  fetched = 0;
  unfetched = 0;

  /**
   * @param fetch throws when there are no keys to be had
   * @param limits how long a question may take, and how long the last keys serve beyond their freshness
   */
  constructor(fetch: (signal: AbortSignal) => Promise<KeySet>, limits: { timeoutMs: number; staleMs: number }) {
    this.#fetch = fetch;
    this.#timeoutMs = limits.timeoutMs;
    this.#servedMs = FRESH_MS + limits.staleMs;
  }

  get known(): KeySet | undefined {
    return this.#keys;
  }

  get state(): KeySource['state'] {
    if (this.#knownAt === Number.NEGATIVE_INFINITY) return 'unknown';
    // Keys that nobody asked for are old, and no fault.
    const isLate = since(this.#knownAt) > this.#servedMs && this.#cause !== undefined;
    return this.#keys === undefined || isLate ? 'stale' : 'known';
  }

  get cause(): string | undefined {
    return this.#cause;
  }

  async current(): Promise<KeySet | undefined> {
    const age = since(this.#knownAt);
    // Keys too old to serve are as none: there may have been no request for hours.
    if (this.#keys === undefined || age > this.#servedMs) await this.#ask();
    else if (age > FRESH_MS && since(this.#askedAt) > RETRY_MS) void this.#ask();
    return since(this.#knownAt) > this.#servedMs ? undefined : this.#keys;
  }

  async newer(
    known: KeySet,
    { name = '', cameAt, isUnknown, client }: WantedKey,
  ): Promise<KeySet | 'none' | 'unavailable'> {
    while (this.#keys === known) {
      if (since(this.#absent.get(name)) < COOLDOWN_MS) return 'none';
      if (this.#knownAt >= cameAt) {
        this.#remember(name);
        return 'none';
      }
      if (!(await this.#askInTurn(isUnknown, client))) return 'unavailable';
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
    const pauseMs = PAUSE_MS - since(this.#askedAt);
    if (this.#asking === undefined && pauseMs > 0) {
      if (!mayWait || !this.#waiting.take(client)) return false;
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
    if (!this.#breaker.mayAsk()) return Promise.resolve(false);
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    this.#asking = this.#fetch(deadline(this.#timeoutMs))
      .then((keys) => this.#learn(keys, askedAt))
      .catch((error: Error) => {
        this.#cause = error.message;
        this.unfetched += 1;
        this.#breaker.failed();
        return false;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #learn(keys: KeySet, askedAt: number): boolean {
    if (keys.isEmpty) {
      // The issuer's own word: what it has signed before counts no longer.
      this.#keys = undefined;
      throw new Error('keys_none_usable');
    }
    this.#breaker.succeeded();
    this.fetched += 1;
    this.#cause = undefined;
    this.#knownAt = askedAt;
    // Equal keys stay the same object: tokens that were verified by them stay known.
    if (keys.text !== this.#keys?.text) this.#keys = keys;
    return true;
  }
}

function since(time = Number.NEGATIVE_INFINITY): number {
  return performance.now() - time;
}
