import type { Resolver } from 'node:dns';
import { DnsError } from './dns-error.ts';
import { DnsQuery, type DnsQueryListener, type DnsResult } from './dns-query.ts';
import type { LookupSlots, SlotHolder } from './lookup-slots.ts';

export interface DnsLookupListener {
  readonly hasWaiters: boolean;
  readonly isFailing: boolean;
  /** The full names that may be meant, in order. */
  candidateNames(): readonly string[];
  /** Addresses of one family are there; the other one follows. */
  onPartialResult(found: DnsResult): void;
  onResult(found: DnsResult, ms: number): void;
  onFailed(error: DnsError, ms: number): void;
  /** It ended without a result. */
  onCancelled(): void;
}

/** Longest time on the network, whatever the name servers do. */
const LIMIT_MS = 5_000;
/**
 * The same once the last waiter has left. The time lets a name resolve that takes longer than each waiter does, and tells a name
 * server that hangs from clients that leave early.
 */
const ABANDONED_MS = 1_000;

/** One look-up of a name, from its wait for a place to its result. */
export class DnsLookup implements SlotHolder, DnsQueryListener {
  readonly #places: LookupSlots;
  readonly #user: DnsLookupListener;
  #question: DnsQuery | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #early: DnsResult | undefined;
  #isOver = false;

  constructor(places: LookupSlots, user: DnsLookupListener) {
    this.#places = places;
    this.#user = user;
    places.acquire(this);
  }

  get hasWaiters(): boolean {
    return this.#user.hasWaiters;
  }

  get isFailing(): boolean {
    return this.#user.isFailing;
  }

  /** The first waiter came, after it had begun without one. */
  onFirstWaiter(): void {
    if (this.#question === undefined) this.#places.preemptFor(this);
    else this.#limit(Math.max(this.#startedAt + LIMIT_MS - performance.now(), 0));
  }

  /** The last waiter left. */
  onLastWaiterLeft(): void {
    if (this.#question === undefined) this.cancel();
    else this.#limit(ABANDONED_MS);
  }

  cancel(): void {
    if (!this.#end()) return;
    this.#user.onCancelled();
  }

  onSlot(channel: Resolver): void {
    this.#startedAt = performance.now();
    this.#limit(LIMIT_MS);
    this.#question = new DnsQuery(channel, this.#user.candidateNames(), this);
  }

  onPreempted(): void {
    this.cancel();
  }

  onPartialResult(found: DnsResult): void {
    this.#early = found;
    this.#user.onPartialResult(found);
  }

  onResult(found: DnsResult): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#user.onResult(found, ms);
  }

  onFailed(error: DnsError): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#user.onFailed(error, ms);
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onLate(), ms).unref();
  }

  #onLate(): void {
    if (this.#early === undefined) this.onFailed(new DnsError('ETIMEOUT'));
    else this.onResult(this.#early);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#question?.stop();
    this.#places.release(this);
    return true;
  }
}
