import type { Resolver } from 'node:dns';
import { DnsError } from './dns-error.ts';
import { DnsQuery, type DnsQueryListener, type DnsResult } from './dns-query.ts';
import type { LookupSlots, SlotHolder } from './lookup-slots.ts';

export interface DnsLookupListener {
  readonly hasWaiters: boolean;
  readonly isFailing: boolean;
  /** Returns the full names to query, in order. */
  candidateNames(): readonly string[];
  /** The addresses of one family are available, and the query for the other one continues. */
  onPartialResult(result: DnsResult): void;
  onResult(result: DnsResult, ms: number): void;
  onFailed(error: DnsError, ms: number): void;
  /** The lookup ended without a result. */
  onCancelled(): void;
}

/** The time limit of a lookup on the network. */
const TIMEOUT_MS = 5_000;
/**
 * The time limit after the last waiter has left. A slow name can still resolve in this time, and a name server that hangs still
 * counts as failed if all clients disconnect early.
 */
const ABANDONED_TIMEOUT_MS = 1_000;

/** One lookup of a name, from its wait for a slot to its result. */
export class DnsLookup implements SlotHolder, DnsQueryListener {
  readonly #slots: LookupSlots;
  readonly #listener: DnsLookupListener;
  #query: DnsQuery | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #partial: DnsResult | undefined;
  #hasEnded = false;

  constructor(slots: LookupSlots, listener: DnsLookupListener) {
    this.#slots = slots;
    this.#listener = listener;
  }

  /** Waits for a slot, then queries the name servers. */
  start(): void {
    this.#slots.acquire(this);
  }

  get hasWaiters(): boolean {
    return this.#listener.hasWaiters;
  }

  get isFailing(): boolean {
    return this.#listener.isFailing;
  }

  /** Called when a lookup without waiters gets its first one. */
  onFirstWaiter(): void {
    if (this.#query === undefined) this.#slots.preemptFor(this);
    else this.#setTimeout(Math.max(this.#startedAt + TIMEOUT_MS - performance.now(), 0));
  }

  /** Called when the last waiter leaves. */
  onLastWaiterLeft(): void {
    if (this.#query === undefined) this.cancel();
    else this.#setTimeout(ABANDONED_TIMEOUT_MS);
  }

  cancel(): void {
    if (!this.#end()) return;
    this.#listener.onCancelled();
  }

  onSlot(channel: Resolver): void {
    this.#startedAt = performance.now();
    this.#setTimeout(TIMEOUT_MS);
    this.#query = new DnsQuery(channel, this.#listener.candidateNames(), this);
    this.#query.start();
  }

  onPreempted(): void {
    this.cancel();
  }

  onPartialResult(result: DnsResult): void {
    this.#partial = result;
    this.#listener.onPartialResult(result);
  }

  onResult(result: DnsResult): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#listener.onResult(result, ms);
  }

  onFailed(error: DnsError): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#listener.onFailed(error, ms);
  }

  #setTimeout(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onTimeout(), ms).unref();
  }

  #onTimeout(): void {
    if (this.#partial === undefined) this.onFailed(new DnsError('ETIMEOUT'));
    else this.onResult(this.#partial);
  }

  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#query?.stop();
    this.#slots.release(this);
    return true;
  }
}
