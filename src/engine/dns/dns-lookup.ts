import { type RecordWithTtl, Resolver } from 'node:dns';
import { DnsError, type DnsErrorCode } from './resolution-status.ts';

export interface DnsResult {
  readonly ips: readonly string[];
  /** The shortest time to live of the addresses, in seconds. */
  readonly ttlSeconds: number;
  /** The address families for which no name server responded. */
  readonly unresolvedFamilies: readonly (4 | 6)[];
}

export interface DnsLookupListener {
  /** Returns the full names to query, in order. */
  candidateNames(): readonly string[];
  /** The addresses of one family are available, and the query for the other one continues. */
  onPartialResult(result: DnsResult, ms: number): void;
  onResult(result: DnsResult, ms: number): void;
  onFailed(error: DnsError, ms: number): void;
  /** The lookup ended without a result. */
  onCancelled(): void;
}

/** The time limit of a lookup on the network. */
const TIMEOUT_MS = 5_000;
/** The time limit after the last waiter has left: a slow name can still resolve, and a name server that hangs still counts as failed. */
const ABANDONED_TIMEOUT_MS = 1_000;

/** The timeouts of c-ares for the first try and for each try. */
const TRY_MS = 1_000;
const MAX_TRY_MS = 2_000;
const TRIES = 3;

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

/** One lookup of a name: queries both address families in parallel, and the full names in sequence. */
export class DnsLookup {
  readonly #listener: DnsLookupListener;
  /** A channel of its own, so that the lookup can be cancelled separately. */
  readonly #channel = new Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: MAX_TRY_MS });
  #names: readonly string[] = [];
  #families = new Map<4 | 6, FamilyResult>();
  #timer: NodeJS.Timeout | undefined;
  #partialTimer: NodeJS.Timeout | undefined;
  readonly #startedAt = performance.now();
  #partial: DnsResult | undefined;
  #hasServerFailed = false;
  #hasEnded = false;

  /** @param servers empty to let c-ares find them */
  constructor(servers: readonly string[], listener: DnsLookupListener) {
    this.#listener = listener;
    if (servers.length > 0) this.#channel.setServers(servers);
  }

  start(): void {
    this.#setTimeout(TIMEOUT_MS);
    this.#names = this.#listener.candidateNames();
    this.#query(0);
  }

  /** Called when a lookup without waiters gets its first one. */
  onFirstWaiter(): void {
    this.#setTimeout(Math.max(this.#startedAt + TIMEOUT_MS - performance.now(), 0));
  }

  onLastWaiterLeft(): void {
    this.#setTimeout(ABANDONED_TIMEOUT_MS);
  }

  cancel(): void {
    if (this.#end()) this.#listener.onCancelled();
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
    const hasAddresses = result.ips.length > 0;
    if (this.#families.size < 2) {
      if (hasAddresses) this.#partialTimer = setTimeout(() => this.#report(result), RESOLUTION_DELAY_MS).unref();
      return;
    }
    if (hasAddresses) {
      this.#succeed(result);
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

  /** One family has addresses, and the other one has not responded yet (RFC 8305 section 3). */
  #report(partial: DnsResult): void {
    this.#partial = partial;
    this.#listener.onPartialResult(partial, performance.now() - this.#startedAt);
  }

  #succeed(result: DnsResult): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#listener.onResult(result, ms);
  }

  #fail(code: DnsErrorCode): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#listener.onFailed(new DnsError(code), ms);
  }

  #setTimeout(ms: number): void {
    clearTimeout(this.#timer);
    const expire = () => {
      if (this.#partial === undefined) this.#fail('ETIMEOUT');
      else this.#succeed(this.#partial);
    };
    // A response that is here counts, also if the process did not run until now.
    this.#timer = setTimeout(() => setImmediate(expire), ms).unref();
  }

  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#partialTimer);
    this.#channel.cancel();
    return true;
  }
}
