import { AddressList, type HostAddress } from './address-list.ts';
import { DnsLookup, type DnsLookupListener, type DnsResult } from './dns-lookup.ts';
import { Freshness } from './freshness.ts';
import type { LookupCounts } from './lookup-counts.ts';
import { isLocalhostName } from './loopback.ts';
import type { DnsError, DnsErrorCode, ResolutionState, ResolutionStatus } from './resolution-status.ts';
import type { ResolverFiles } from './resolver-files.ts';
import { candidateNames } from './resolver-files.ts';

/** Receives the addresses to try, best first, or the reason why there is none. */
type AddressCallback = (error: DnsError | undefined, addresses: readonly HostAddress[]) => void;

/** The parts of a resolver that its names share. */
export interface ResolverContext {
  readonly files: ResolverFiles;
  /** Returns the name servers of the next lookup; empty to let c-ares find them. */
  readonly servers: () => readonly string[];
  readonly counts: LookupCounts;
  readonly now: () => number;
  /** Reports that a name stops resolving, with the reason, or resolves again. */
  readonly report: (name: string, reason: DnsErrorCode | undefined) => void;
}

/** The minimum time between two lookups while addresses refuse connections. */
const UNREACHABLE_MS = 1_000;
/** The number of waiters that get their result in one turn of the event loop. */
const DELIVERIES_PER_TURN = 64;
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/** A host name with its cached addresses. */
export class HostName implements DnsLookupListener {
  readonly #name: string;
  readonly #context: ResolverContext;
  readonly #addresses = new AddressList();
  readonly #waiters = new Set<AddressCallback>();
  #lookup: DnsLookup | undefined;
  #isStatic = false;
  #filesVersion = -1;
  readonly #freshness = new Freshness();
  #error: DnsError | undefined;
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
    if (files.isReady || this.#isStatic) return this.#resolve(waiter);
    let isCancelled = false;
    let cancel = () => {
      isCancelled = true;
    };
    void files.ready().then(() => {
      if (!isCancelled) cancel = this.#resolve(waiter);
    });
    return () => cancel();
  }

  #resolve(waiter: AddressCallback): () => void {
    const { counts, now, files } = this.#context;
    files.checkForChanges();
    this.#readHosts();
    if (this.#addresses.size > 0) {
      if (!this.#isStatic && this.#freshness.isExpired(now())) {
        counts.stale += 1;
        if (this.#freshness.mayRetry(now())) this.refresh();
      }
      return deliverLater(waiter, undefined, this.#addresses.next(!this.#isStatic));
    }
    if (this.#error !== undefined && !this.#freshness.mayRetry(now())) return deliverLater(waiter, this.#error, []);
    const others = this.#waiters.size;
    this.#waiters.add(waiter);
    if (this.#lookup === undefined) this.refresh();
    else if (others === 0) this.#lookup.onFirstWaiter();
    return () => {
      if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#lookup?.onLastWaiterLeft();
    };
  }

  /** Starts a lookup after an address refused a connection, because the name may have new addresses. */
  onUnreachable(): void {
    if (this.#freshness.isIdleFor(this.#context.now(), UNREACHABLE_MS)) this.refresh();
  }

  /** Starts a lookup unless one is in progress. */
  refresh(): void {
    this.#readHosts();
    if (this.#isStatic || this.#lookup !== undefined) return;
    this.#context.counts.inFlight += 1;
    this.#lookup = new DnsLookup(this.#context.servers(), this);
    this.#lookup.start();
  }

  /** True if the addresses have expired and the last lookup ended at least this long ago. */
  isRefreshDue(pauseMs: number): boolean {
    this.#readHosts();
    if (this.#isStatic || this.#lookup !== undefined) return false;
    const now = this.#context.now();
    return this.#freshness.isExpired(now) && this.#freshness.isIdleFor(now, pauseMs);
  }

  /** Cancels the lookup unless a connection waits for it. */
  cancelRefresh(): void {
    if (this.#waiters.size === 0) this.#lookup?.cancel();
  }

  candidateNames(): readonly string[] {
    return candidateNames(this.#name, this.#context.files.resolvConf);
  }

  onPartialResult(result: DnsResult, ms: number): void {
    this.#publish(result, ms, [4, 6]);
  }

  onResult(result: DnsResult, ms: number): void {
    this.#end();
    this.#context.counts.record('ok', ms);
    this.#publish(result, ms, result.unresolvedFamilies);
  }

  onFailed(error: DnsError, ms: number): void {
    const now = this.#end();
    this.#context.counts.record(OUTCOME_BY_CODE[error.code], ms);
    const wasFailing = this.isFailing;
    this.#error = error;
    this.#freshness.recordFailure(now, error.code);
    if (this.#freshness.isTooStale(now)) this.#addresses.replace([]);
    if (!wasFailing) this.#context.report(this.#name, error.code);
    this.#notifyWaiters();
  }

  onCancelled(): void {
    this.#end();
    this.#context.counts.outcomes.cancelled += 1;
  }

  get #state(): ResolutionState {
    if (this.#isStatic) return 'static';
    if (this.#addresses.size === 0) return this.isFailing ? 'failed' : 'pending';
    return this.isFailing ? 'stale' : 'resolved';
  }

  #end(): number {
    this.#lookup = undefined;
    this.#context.counts.inFlight -= 1;
    const now = this.#context.now();
    this.#freshness.recordLookupEnd(now);
    return now;
  }

  /** Publishes addresses that are at most `ms` old. The current ones of `unresolved` families stay valid. */
  #publish({ ips, ttlSeconds }: DnsResult, ms: number, unresolved: readonly (4 | 6)[]): void {
    const { now, report } = this.#context;
    const wasFailing = this.isFailing;
    const retained = this.#addresses.ips.filter((ip) => unresolved.includes(ip.includes(':') ? 6 : 4));
    this.#addresses.replace([...ips, ...retained]);
    this.#freshness.recordSuccess(now() - ms, ttlSeconds);
    this.#error = undefined;
    if (wasFailing) report(this.#name, undefined);
    this.#notifyWaiters();
  }

  /** Calls the waiters with the result, at most 64 in each turn of the event loop, because each then opens a connection. */
  #notifyWaiters(): void {
    let count = 0;
    for (const waiter of this.#waiters) {
      if (count === DELIVERIES_PER_TURN) {
        setImmediate(() => this.#notifyWaiters());
        return;
      }
      count += 1;
      this.#waiters.delete(waiter);
      if (this.#addresses.size > 0) waiter(undefined, this.#addresses.next(!this.#isStatic));
      else waiter(this.#error, []);
    }
  }

  /** Applies the hosts file, which takes precedence over the name servers. */
  #readHosts(): void {
    const { files } = this.#context;
    if (this.#filesVersion >= files.version) return;
    this.#filesVersion = files.version;
    const ips = files.hosts.get(this.#name.replace(/\.$/, ''));
    if (ips === undefined) {
      // The addresses stay in use until the name servers respond.
      if (this.#isStatic) this.#freshness.restartStaleness(this.#context.now());
      this.#isStatic = false;
      return;
    }
    const wasFailing = this.isFailing;
    this.#isStatic = true;
    this.#error = undefined;
    this.#addresses.replace(ips);
    if (wasFailing) this.#context.report(this.#name, undefined);
    this.#notifyWaiters();
    this.#lookup?.cancel();
  }
}

const OUTCOME_BY_CODE = { ENOTFOUND: 'not_found', EAI_AGAIN: 'failed', ETIMEOUT: 'timeout' } as const;

function deliverLater(waiter: AddressCallback, error: DnsError | undefined, addresses: readonly HostAddress[]) {
  process.nextTick(waiter, error, addresses);
  return () => undefined;
}
