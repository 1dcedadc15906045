import { isLocalhostName } from '../loopback.ts';
import { AddressList } from './address-list.ts';
import type { DnsError, DnsErrorCode } from './dns-error.ts';
import { DnsLookup, type DnsLookupListener } from './dns-lookup.ts';
import type { DnsResult } from './dns-query.ts';
import { Freshness } from './freshness.ts';
import type { HostAddress } from './host-address.ts';
import type { LookupCounts } from './lookup-counts.ts';
import type { LookupSlots } from './lookup-slots.ts';
import type { ResolutionState, ResolutionStatus } from './resolution-status.ts';
import { candidateNames } from './resolv-conf.ts';
import type { ResolverFiles } from './resolver-files.ts';

/** Receives the addresses to try, best first, or the reason why there is none. */
export type AddressCallback = (error: DnsError | undefined, addresses: readonly HostAddress[]) => void;

/** The parts of a resolver that its names share. */
export interface ResolverContext {
  readonly files: ResolverFiles;
  readonly slots: LookupSlots;
  readonly counts: LookupCounts;
  readonly now: () => number;
  /** A name begins to fail, with the reason, or resolves again. */
  readonly report: (name: string, reason: DnsErrorCode | undefined) => void;
}

/** At least this long from one look-up to the next while addresses do not take connections. */
const UNREACHABLE_MS = 1_000;
const DELIVERIES_PER_TURN = 64;
const LOOPBACK = ['127.0.0.1', '::1'];

/** A name with its addresses, as far as they are known. */
export class HostName implements DnsLookupListener {
  readonly #name: string;
  readonly #context: ResolverContext;
  readonly #addresses = new AddressList();
  readonly #waiters = new Set<AddressCallback>();
  #lookUp: DnsLookup | undefined;
  #isStatic = false;
  #filesVersion = -1;
  readonly #freshness = new Freshness();
  #error: DnsError | undefined;
  /** The last time that a connection needed it. */
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
    this.#addresses.replace(LOOPBACK);
  }

  get isFailing(): boolean {
    return this.#error !== undefined;
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0;
  }

  get isLookingUp(): boolean {
    return this.#lookUp !== undefined;
  }

  get status(): ResolutionStatus {
    return { state: this.#state, addresses: this.#addresses.ips, reason: this.#error?.code ?? null };
  }

  /**
   * Gives the addresses to a waiter: at the end of this turn if any are known, else after the look-up.
   *
   * @returns for a waiter that leaves earlier
   */
  resolve(waiter: AddressCallback): () => void {
    const { files, now } = this.#context;
    this.usedAt = now();
    if (files.isReady || this.#isStatic) return this.#resolve(waiter);
    let hasLeft = false;
    let leave = () => {
      hasLeft = true;
    };
    void files.ready().then(() => {
      if (!hasLeft) leave = this.#resolve(waiter);
    });
    return () => leave();
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
    if (this.#lookUp === undefined) this.refresh();
    else if (others === 0) this.#lookUp.onFirstWaiter();
    return () => {
      if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#lookUp?.onLastWaiterLeft();
    };
  }

  /** An address does not take connections: the name may have others by now. */
  onUnreachable(): void {
    if (this.#freshness.isIdleFor(this.#context.now(), UNREACHABLE_MS)) this.refresh();
  }

  /** Begins a look-up if none is in progress. */
  refresh(): void {
    this.#readHosts();
    if (!this.#isStatic) this.#lookUp ??= new DnsLookup(this.#context.slots, this);
  }

  /** True if its addresses have expired, and the last look-up ended at least this long ago. */
  isRefreshDue(pauseMs: number): boolean {
    this.#readHosts();
    if (this.#isStatic || this.#lookUp !== undefined) return false;
    const now = this.#context.now();
    return this.#freshness.isExpired(now) && this.#freshness.isIdleFor(now, pauseMs);
  }

  /** Ends the look-up, unless somebody waits for it. */
  cancelRefresh(): void {
    if (!this.hasWaiters) this.#lookUp?.cancel();
  }

  candidateNames(): readonly string[] {
    return candidateNames(this.#name, this.#context.files.resolvConf);
  }

  onPartialResult(found: DnsResult): void {
    this.#publish(found, [4, 6]);
  }

  onResult(found: DnsResult, ms: number): void {
    this.#end();
    this.#context.counts.record('ok', ms);
    this.#publish(found, found.unresolvedFamilies);
  }

  onFailed(error: DnsError, ms: number): void {
    const now = this.#end();
    this.#context.counts.record(OUTCOME_BY_CODE[error.code], ms);
    const wasFailing = this.isFailing;
    this.#error = error;
    this.#freshness.recordFailure(now, error.code);
    if (this.#freshness.isTooStale(now)) this.#addresses.replace([]);
    if (!wasFailing) this.#context.report(this.#name, error.code);
    this.#settle();
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
    this.#lookUp = undefined;
    const now = this.#context.now();
    this.#freshness.recordLookupEnd(now);
    return now;
  }

  /** @param unknown families whose addresses stay as they are */
  #publish({ ips, ttlSeconds }: DnsResult, unknown: readonly (4 | 6)[]): void {
    const { now, report } = this.#context;
    const wasFailing = this.isFailing;
    const kept = this.#addresses.ips.filter((ip) => unknown.includes(ip.includes(':') ? 6 : 4));
    this.#addresses.replace([...ips, ...kept]);
    this.#freshness.recordSuccess(now(), ttlSeconds);
    this.#error = undefined;
    if (wasFailing) report(this.#name, undefined);
    this.#settle();
  }

  /** Gives the result to the waiters: some in each turn of the event loop, since each of them opens a connection then. */
  #settle(): void {
    let count = 0;
    for (const waiter of this.#waiters) {
      if (count === DELIVERIES_PER_TURN) {
        setImmediate(() => this.#settle());
        return;
      }
      count += 1;
      this.#waiters.delete(waiter);
      if (this.#addresses.size > 0) waiter(undefined, this.#addresses.next(!this.#isStatic));
      else waiter(this.#error, []);
    }
  }

  /** Takes the addresses of the hosts file, which come before those of the name servers. */
  #readHosts(): void {
    const { files } = this.#context;
    if (this.#filesVersion >= files.version) return;
    this.#filesVersion = files.version;
    const ips = files.hosts.get(this.#name.replace(/\.$/, ''));
    if (ips === undefined) {
      // Its addresses serve until the name servers respond.
      if (this.#isStatic) this.#freshness.restartStaleness(this.#context.now());
      this.#isStatic = false;
      return;
    }
    const wasFailing = this.isFailing;
    this.#isStatic = true;
    this.#error = undefined;
    this.#addresses.replace(ips);
    if (wasFailing) this.#context.report(this.#name, undefined);
    this.#settle();
    this.#lookUp?.cancel();
  }
}

const OUTCOME_BY_CODE = { ENOTFOUND: 'not_found', EAI_AGAIN: 'failed', ETIMEOUT: 'timeout' } as const;

function deliverLater(
  waiter: AddressCallback,
  error: DnsError | undefined,
  addresses: readonly HostAddress[],
): () => void {
  process.nextTick(waiter, error, addresses);
  return () => undefined;
}
