import type { RecordWithTtl, Resolver } from 'node:dns';
import type { LookupSlots, SlotHolder } from './lookup-slots.ts';
import { DnsError, type DnsErrorCode } from './resolution-status.ts';

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

/** The addresses of a name. */
export interface DnsResult {
  readonly ips: readonly string[];
  /** The shortest time to live of the addresses, in seconds. */
  readonly ttlSeconds: number;
  /** The address families for which no name server responded. */
  readonly unresolvedFamilies: readonly (4 | 6)[];
}

interface DnsQueryListener {
  /** One family has addresses, and the other one has not responded yet (RFC 8305 section 3). */
  onPartialResult(result: DnsResult): void;
  onResult(result: DnsResult): void;
  onFailed(error: DnsError): void;
}

/** The resolution delay of RFC 8305 section 3. */
const RESOLUTION_DELAY_MS = 50;

const NOT_FOUND = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** After these codes the query tries the next search domain, as glibc does. After a timeout it fails: the name may exist. */
const TRY_NEXT_DOMAIN = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);

const FAMILIES = [4, 6] as const;

interface FamilyResult {
  readonly records: readonly RecordWithTtl[];
  readonly code: string | undefined;
}

/** Queries the name servers for both address families of a name in parallel, and for its full names in sequence. */
class DnsQuery {
  readonly #channel: Resolver;
  readonly #names: readonly string[];
  readonly #listener: DnsQueryListener;
  #families = new Map<4 | 6, FamilyResult>();
  #partialTimer: NodeJS.Timeout | undefined;
  #hasServerFailed = false;
  #hasEnded = false;

  constructor(channel: Resolver, names: readonly string[], listener: DnsQueryListener) {
    this.#channel = channel;
    this.#names = names;
    this.#listener = listener;
  }

  start(): void {
    this.#query(0);
  }

  /** Cancels the query; the listener is not called again. */
  stop(): void {
    this.#end();
    this.#channel.cancel();
  }

  #query(index: number): void {
    const name = this.#names[index];
    if (name === undefined) {
      this.#fail(this.#hasServerFailed ? 'EAI_AGAIN' : 'ENOTFOUND');
      return;
    }
    this.#families = new Map();
    const onRecords = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, records?: RecordWithTtl[]) => {
      if (this.#hasEnded) return;
      this.#families.set(family, { records: records ?? [], code: error?.code });
      this.#evaluate(index);
    };
    this.#channel.resolve4(name, { ttl: true }, onRecords(4));
    this.#channel.resolve6(name, { ttl: true }, onRecords(6));
  }

  #evaluate(index: number): void {
    const result = this.#result();
    if (this.#families.size < 2) {
      if (result.ips.length > 0)
        this.#partialTimer = setTimeout(() => this.#listener.onPartialResult(result), RESOLUTION_DELAY_MS).unref();
      return;
    }
    if (result.ips.length > 0) {
      this.#end();
      this.#listener.onResult(result);
      return;
    }
    const codes = [...this.#families.values()]
      .map(({ code = 'ENODATA' }) => code)
      .filter((code) => !NOT_FOUND.has(code));
    const final = codes.find((code) => !TRY_NEXT_DOMAIN.has(code));
    if (final !== undefined) {
      this.#fail(final === 'ETIMEOUT' ? 'ETIMEOUT' : 'EAI_AGAIN');
      return;
    }
    if (codes.length > 0) this.#hasServerFailed = true;
    this.#query(index + 1);
  }

  #result(): DnsResult {
    const records = [...this.#families.values()].flatMap(({ records }) => records);
    const isUnresolved = (family: FamilyResult | undefined) =>
      family === undefined || (family.code !== undefined && !NOT_FOUND.has(family.code));
    return {
      ips: records.map(({ address }) => address),
      ttlSeconds: records.reduce((least, { ttl }) => Math.min(least, ttl), Number.POSITIVE_INFINITY),
      unresolvedFamilies: FAMILIES.filter((family) => isUnresolved(this.#families.get(family))),
    };
  }

  #fail(code: DnsErrorCode): void {
    this.#end();
    this.#listener.onFailed(new DnsError(code));
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#partialTimer);
  }
}
