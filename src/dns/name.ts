import type { Address } from './address.ts';
import { AddressList } from './address-list.ts';
import type { Counts } from './counts.ts';
import { LookUp, type LookUpUser } from './look-up.ts';
import type { NameCode, NameError } from './name-error.ts';
import type { NameFiles } from './name-files.ts';
import type { Places } from './places.ts';
import type { Found } from './question.ts';
import { fullNames } from './resolv-conf.ts';

/** Receives the addresses to try, best first, or the reason why there is none. */
export type Waiter = (error: NameError | undefined, addresses: readonly Address[]) => void;

/** `static`: from `/etc/hosts`, or `localhost`; `stale`: kept after a look-up failed; `pending`: not looked up yet. */
export const NAME_STATES = ['static', 'resolved', 'stale', 'failed', 'pending'] as const;

export type NameState = (typeof NAME_STATES)[number];

export interface NameStatus {
  readonly state: NameState;
  readonly addresses: readonly string[];
  /** Why the last look-up failed; `null` if it did not. */
  readonly reason: NameCode | null;
}

/** The parts of a resolver that its names share. */
export interface NameContext {
  readonly files: NameFiles;
  readonly places: Places;
  readonly counts: Counts;
  readonly now: () => number;
  /** A name begins to fail, with the reason, or resolves again. */
  readonly report: (name: string, reason: NameCode | undefined) => void;
}

const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** A failure is remembered for this long. */
const FAILURE_MS = 1_000;
/** Addresses without a newer response are used for no longer than this (RFC 8767 section 5 says one to three days). */
const MAX_STALE_MS = 86_400_000;
/** The same after the name servers say that there are none, since the addresses may be another service's by then. */
const MAX_NOT_FOUND_MS = 60_000;
/** At least this long from one look-up to the next while addresses do not take connections. */
const UNREACHABLE_MS = 1_000;
const SETTLED_AT_ONCE = 64;
const LOOPBACK = ['127.0.0.1', '::1'];

/** A name with its addresses, as far as they are known. */
export class Name implements LookUpUser {
  readonly #name: string;
  readonly #context: NameContext;
  readonly #addresses = new AddressList();
  readonly #waiters = new Set<Waiter>();
  #lookUp: LookUp | undefined;
  #isStatic = false;
  #filesVersion = -1;
  #expiresAt = 0;
  #retryAt = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  #resolvedAt = 0;
  #notFoundSince: number | undefined;
  #error: NameError | undefined;
  /** The last time that a connection needed it. */
  usedAt = 0;
  /** Open connections to its addresses. */
  connections = 0;

  /** @param name in lower case */
  constructor(name: string, context: NameContext) {
    this.#name = name;
    this.#context = context;
    if (!/(?:^|\.)localhost\.?$/.test(name)) return;
    // RFC 6761 section 6.3.
    this.#isStatic = true;
    this.#filesVersion = Number.POSITIVE_INFINITY;
    this.#addresses.replace(LOOPBACK);
  }

  get isFailing(): boolean {
    return this.#error !== undefined;
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  get isLookedUp(): boolean {
    return this.#lookUp !== undefined;
  }

  get status(): NameStatus {
    return { state: this.#state, addresses: this.#addresses.ips, reason: this.#error?.code ?? null };
  }

  /**
   * Gives the addresses to a waiter: at the end of this turn if any are known, else after the look-up.
   *
   * @returns for a waiter that leaves earlier
   */
  resolve(waiter: Waiter): () => void {
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

  #resolve(waiter: Waiter): () => void {
    const { counts, now, files } = this.#context;
    files.checkSoon();
    this.#readHosts();
    if (this.#addresses.size > 0) {
      if (!this.#isStatic && now() >= this.#expiresAt) {
        counts.stale += 1;
        if (now() >= this.#retryAt) this.refresh();
      }
      return soon(waiter, undefined, this.#addresses.next(!this.#isStatic));
    }
    if (this.#error !== undefined && now() < this.#retryAt) return soon(waiter, this.#error, []);
    const others = this.#waiters.size;
    this.#waiters.add(waiter);
    if (this.#lookUp === undefined) this.refresh();
    else if (others === 0) this.#lookUp.onAwaited();
    return () => {
      if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#lookUp?.onAbandoned();
    };
  }

  /** An address does not take connections: the name may have others by now. */
  onUnreachable(): void {
    if (this.#context.now() >= this.#endedAt + UNREACHABLE_MS) this.refresh();
  }

  /** Begins a look-up if none is in progress. */
  refresh(): void {
    this.#readHosts();
    if (!this.#isStatic) this.#lookUp ??= new LookUp(this.#context.places, this);
  }

  /** True if its addresses have expired, and the last look-up ended at least this long ago. */
  isDue(pauseMs: number): boolean {
    const now = this.#context.now();
    this.#readHosts();
    const isOver = !this.#isStatic && this.#lookUp === undefined && now >= this.#expiresAt;
    return isOver && now >= this.#endedAt + pauseMs;
  }

  /** Ends the look-up, unless somebody waits for it. */
  cancelRefresh(): void {
    if (!this.isAwaited) this.#lookUp?.cancel();
  }

  fullNames(): readonly string[] {
    return fullNames(this.#name, this.#context.files.conf);
  }

  onEarly(found: Found): void {
    this.#publish(found, [4, 6]);
  }

  onFound(found: Found, ms: number): void {
    this.#end();
    this.#context.counts.ended('ok', ms);
    this.#publish(found, found.unknown);
  }

  onFailed(error: NameError, ms: number): void {
    const now = this.#end();
    this.#context.counts.ended(RESULTS[error.code], ms);
    const wasFailing = this.isFailing;
    this.#error = error;
    this.#retryAt = now + FAILURE_MS;
    this.#dropOutdated(now, error.code);
    if (!wasFailing) this.#context.report(this.#name, error.code);
    this.#settle();
  }

  onCancelled(): void {
    this.#end();
    this.#context.counts.results.cancelled += 1;
  }

  get #state(): NameState {
    if (this.#isStatic) return 'static';
    if (this.#addresses.size === 0) return this.isFailing ? 'failed' : 'pending';
    return this.isFailing ? 'stale' : 'resolved';
  }

  #end(): number {
    this.#lookUp = undefined;
    this.#endedAt = this.#context.now();
    return this.#endedAt;
  }

  /** @param unknown families whose addresses stay as they are */
  #publish({ ips, ttlSeconds }: Found, unknown: readonly (4 | 6)[]): void {
    const { now, report } = this.#context;
    const wasFailing = this.isFailing;
    const kept = this.#addresses.ips.filter((ip) => unknown.includes(ip.includes(':') ? 6 : 4));
    this.#addresses.replace([...ips, ...kept]);
    this.#resolvedAt = now();
    this.#expiresAt = now() + Math.min(Math.max(ttlSeconds * 1_000, MIN_TTL_MS), MAX_TTL_MS);
    this.#notFoundSince = undefined;
    this.#error = undefined;
    if (wasFailing) report(this.#name, undefined);
    this.#settle();
  }

  /** Gives the result to the waiters: some in each turn of the event loop, since each of them opens a connection then. */
  #settle(): void {
    let count = 0;
    for (const waiter of this.#waiters) {
      if (count === SETTLED_AT_ONCE) {
        setImmediate(() => this.#settle());
        return;
      }
      count += 1;
      this.#waiters.delete(waiter);
      if (this.#addresses.size > 0) waiter(undefined, this.#addresses.next(!this.#isStatic));
      else waiter(this.#error, []);
    }
  }

  #dropOutdated(now: number, code: NameCode): void {
    this.#notFoundSince = code === 'ENOTFOUND' ? (this.#notFoundSince ?? now) : undefined;
    const isGone = this.#notFoundSince !== undefined && now - this.#notFoundSince >= MAX_NOT_FOUND_MS;
    if (isGone || now - this.#resolvedAt >= MAX_STALE_MS) this.#addresses.replace([]);
  }

  /** Takes the addresses of the hosts file, which come before those of the name servers. */
  #readHosts(): void {
    const { files } = this.#context;
    if (this.#filesVersion >= files.version) return;
    this.#filesVersion = files.version;
    const ips = files.hosts.get(this.#name.replace(/\.$/, ''));
    if (ips === undefined) {
      // Its addresses serve until the name servers respond.
      if (this.#isStatic) this.#resolvedAt = this.#context.now();
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

const RESULTS = { ENOTFOUND: 'not_found', EAI_AGAIN: 'failed', ETIMEOUT: 'timeout' } as const;

function soon(waiter: Waiter, error: NameError | undefined, addresses: readonly Address[]): () => void {
  process.nextTick(waiter, error, addresses);
  return () => undefined;
}
