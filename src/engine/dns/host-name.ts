import { AddressList, type HostAddress } from './address-list.ts';
import { DnsLookup, type DnsResult } from './dns-lookup.ts';
import { isLocalhostName } from './loopback.ts';
import type { DnsError, DnsErrorCode, ResolutionState, ResolutionStatus } from './resolution-status.ts';
import { candidateNames, type ResolverFiles } from './resolver-files.ts';

/** Receives the addresses to try, best first, or the reason why there is none. */
type AddressCallback = (error: DnsError | undefined, addresses: readonly HostAddress[]) => void;

/** The parts of a resolver that its names share. */
export interface ResolverContext {
  readonly files: ResolverFiles;
  /** Empty for those of the machine. */
  readonly servers: readonly string[];
  readonly counts: LookupCounts;
  readonly now: () => number;
  /** Reports that a name stops resolving, with the reason, or resolves again. */
  readonly report: (name: string, reason: DnsErrorCode | undefined) => void;
}

const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** The minimum time between a failed lookup, or one after which addresses refuse connections, and the next one. */
const RETRY_MS = 1_000;
/** Stale addresses are not used longer than this (RFC 8767 section 5 recommends one to three days). */
const MAX_STALE_MS = 86_400_000;
/** The same limit if the name servers report that the name has no address: another service may have the old addresses. */
const MAX_NOT_FOUND_MS = 60_000;
/** The number of waiters that get their result in one turn of the event loop. */
const DELIVERIES_PER_TURN = 64;
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/** A host name with its cached addresses. Times are those of the clock of the resolver. */
export class HostName {
  readonly #name: string;
  readonly #context: ResolverContext;
  readonly #addresses = new AddressList();
  readonly #waiters = new Set<AddressCallback>();
  #lookup: DnsLookup | undefined;
  #isStatic = false;
  #filesVersion = -1;
  #error: DnsError | undefined;
  /** The time when the last lookup ended, with or without a result. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** The time until which the addresses are fresh, and the time since which they can become stale. */
  #expiresAt = 0;
  #resolvedAt = 0;
  #notFoundSince: number | undefined;
  /** The time when a connection last requested the addresses. */
  usedAt = 0;
  /** Open connections to its addresses. */
  connections = 0;

  /** @param name in lower case */
  constructor(name: string, context: ResolverContext) {
    this.#name = name;
    this.#context = context;
    if (!isLocalhostName(name)) return;
    // RFC 6761 section 6.3.
    this.#isStatic = true;
    this.#filesVersion = Number.POSITIVE_INFINITY;
    this.#addresses.replace(LOOPBACK_ADDRESSES);
  }

  get isFailing(): boolean {
    return this.#error !== undefined;
  }

  get isLookingUp(): boolean {
    return this.#lookup !== undefined;
  }

  get status(): ResolutionStatus {
    return { state: this.#state, addresses: this.#addresses.ips, reason: this.#error?.code ?? null };
  }

  /** Calls the waiter with the addresses, cached ones before the next turn of the event loop. Returns a function that removes it. */
  resolve(waiter: AddressCallback): () => void {
    const { files, now } = this.#context;
    this.usedAt = now();
    this.#waiters.add(waiter);
    if (files.isReady || this.#isStatic) this.#serve(waiter);
    else void files.ready().then(() => this.#waiters.has(waiter) && this.#serve(waiter));
    return () => {
      if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#lookup?.limit(false);
    };
  }

  #serve(waiter: AddressCallback): void {
    const { counts, files } = this.#context;
    files.checkForChanges();
    this.#readHosts();
    const mayRetry = this.#error === undefined || this.#isIdleFor(RETRY_MS);
    if (this.#addresses.size > 0) {
      if (!this.#isStatic && this.#isExpired) {
        counts.stale += 1;
        if (mayRetry) this.refresh();
      }
    } else if (mayRetry) {
      if (this.#lookup === undefined) this.refresh();
      else if (this.#waiters.size === 1) this.#lookup.limit(true);
      return;
    }
    process.nextTick(() => this.#notify(waiter));
  }

  /** Starts a lookup after an address refused a connection, because the name may have new addresses. */
  onUnreachable(): void {
    if (this.#isIdleFor(RETRY_MS)) this.refresh();
  }

  /** Starts a lookup unless one is in progress. */
  refresh(): void {
    this.#readHosts();
    if (this.#isStatic || this.#lookup !== undefined) return;
    const { counts, files, servers } = this.#context;
    const isCurrent = () => lookup === this.#lookup;
    const lookup = new DnsLookup(servers, (partial) => isCurrent() && this.#publish(partial, lookup.ageMs, [4, 6]));
    counts.inFlight += 1;
    this.#lookup = lookup;
    lookup.run(candidateNames(this.#name, files.resolvConf)).then(
      (result) => isCurrent() && this.#succeed(result, lookup.ageMs),
      (error: DnsError) => isCurrent() && this.#fail(error, lookup.ageMs),
    );
  }

  /** True if the addresses have expired and the last lookup ended at least this long ago. */
  isRefreshDue(pauseMs: number): boolean {
    this.#readHosts();
    return !this.#isStatic && this.#lookup === undefined && this.#isExpired && this.#isIdleFor(pauseMs);
  }

  /** Cancels the lookup unless a connection waits for it. */
  cancelRefresh(): void {
    if (this.#waiters.size === 0) this.#cancel();
  }

  get #state(): ResolutionState {
    if (this.#isStatic) return 'static';
    if (this.#addresses.size === 0) return this.isFailing ? 'failed' : 'pending';
    return this.isFailing ? 'stale' : 'resolved';
  }

  get #isExpired(): boolean {
    return this.#context.now() >= this.#expiresAt;
  }

  /** True if the last lookup ended at least this long ago. */
  #isIdleFor(ms: number): boolean {
    return this.#context.now() >= this.#endedAt + ms;
  }

  #succeed(result: DnsResult, ms: number): void {
    this.#end();
    this.#context.counts.record('ok', ms);
    this.#publish(result, ms, result.unresolvedFamilies);
  }

  #fail(error: DnsError, ms: number): void {
    const { counts, report } = this.#context;
    const now = this.#end();
    counts.record(OUTCOME_BY_CODE[error.code], ms);
    const wasFailing = this.isFailing;
    this.#error = error;
    this.#notFoundSince = error.code === 'ENOTFOUND' ? (this.#notFoundSince ?? now) : undefined;
    const isTooStale =
      now >= Math.min(this.#resolvedAt + MAX_STALE_MS, (this.#notFoundSince ?? now) + MAX_NOT_FOUND_MS);
    if (isTooStale) this.#addresses.replace([]);
    if (!wasFailing) report(this.#name, error.code);
    this.#notifyWaiters();
  }

  #cancel(): void {
    if (this.#lookup === undefined) return;
    this.#lookup.cancel();
    this.#end();
    this.#context.counts.outcomes.cancelled += 1;
  }

  #end(): number {
    this.#lookup = undefined;
    this.#context.counts.inFlight -= 1;
    this.#endedAt = this.#context.now();
    return this.#endedAt;
  }

  /** Publishes addresses that are at most `ms` old. The current ones of `unresolved` families stay valid. */
  #publish({ ips, ttlSeconds }: DnsResult, ms: number, unresolved: DnsResult['unresolvedFamilies']): void {
    const retained = this.#addresses.ips.filter((ip) => unresolved.includes(ip.includes(':') ? 6 : 4));
    this.#resolvedAt = this.#context.now() - ms;
    this.#expiresAt = this.#resolvedAt + Math.min(Math.max(ttlSeconds * 1_000, MIN_TTL_MS), MAX_TTL_MS);
    this.#notFoundSince = undefined;
    this.#replaceAddresses([...ips, ...retained]);
    this.#notifyWaiters();
  }

  #replaceAddresses(ips: readonly string[]): void {
    const wasFailing = this.isFailing;
    this.#error = undefined;
    this.#addresses.replace(ips);
    if (wasFailing) this.#context.report(this.#name, undefined);
  }

  /** Calls the waiters with the result, at most 64 in each turn of the event loop, because each then opens a connection. */
  #notifyWaiters(): void {
    for (const waiter of [...this.#waiters].slice(0, DELIVERIES_PER_TURN)) this.#notify(waiter);
    if (this.#waiters.size > 0) setImmediate(() => this.#notifyWaiters());
  }

  #notify(waiter: AddressCallback): void {
    if (!this.#waiters.delete(waiter)) return;
    if (this.#addresses.size > 0) waiter(undefined, this.#addresses.next(!this.#isStatic));
    else waiter(this.#error, []);
  }

  /** Applies the hosts file, which takes precedence over the name servers. */
  #readHosts(): void {
    const { files, now } = this.#context;
    if (this.#filesVersion >= files.version) return;
    this.#filesVersion = files.version;
    const ips = files.hosts.get(this.#name.replace(/\.$/, ''));
    // Without a line in the file any longer, the addresses stay in use until the name servers respond.
    if (this.#isStatic && ips === undefined) this.#resolvedAt = now();
    this.#isStatic = ips !== undefined;
    if (ips === undefined) return;
    this.#replaceAddresses(ips);
    process.nextTick(() => this.#notifyWaiters());
    this.#cancel();
  }
}

const OUTCOME_BY_CODE = { ENOTFOUND: 'not_found', EAI_AGAIN: 'failed', ETIMEOUT: 'timeout' } as const;

const LOOKUP_OUTCOMES = ['ok', 'not_found', 'failed', 'timeout', 'cancelled'] as const;

type LookupOutcome = (typeof LOOKUP_OUTCOMES)[number];

export class LookupCounts {
  readonly outcomes: Record<LookupOutcome, number> = { ok: 0, not_found: 0, failed: 0, timeout: 0, cancelled: 0 };
  /** The upper bounds of the buckets of the histogram, in milliseconds. */
  readonly boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];
  /** The count of each bucket, not cumulative. The last bucket counts everything above the last bound. */
  readonly buckets = this.boundsMs.map(() => 0).concat(0);
  sumMs = 0;
  /** Lookups in progress. */
  inFlight = 0;
  /** Connections to addresses whose time to live had expired. */
  stale = 0;

  /** @param ms the time from the first query to the result */
  record(outcome: LookupOutcome, ms: number): void {
    this.outcomes[outcome] += 1;
    const index = this.boundsMs.findIndex((bound) => ms <= bound);
    const bucket = index === -1 ? this.boundsMs.length : index;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sumMs += ms;
  }
}
