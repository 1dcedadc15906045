import { isIP } from 'node:net';
import { getOrCreate } from '../get-or-create.ts';
import { HostName, LookupCounts, type ResolverContext } from './host-name.ts';
import type { DnsErrorCode, ResolutionStatus } from './resolution-status.ts';
import { ResolverFiles } from './resolver-files.ts';

export interface NameResolverOptions {
  /** Name servers, with a port if it is not 53, in place of those of the machine. */
  readonly servers?: readonly string[];
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Called when a name stops resolving, with the reason, or resolves again. */
type ResolutionListener = (name: string, reason: DnsErrorCode | undefined) => void;

/** The most cached names, far above any manifest. Beyond it, the resolver drops the name that it looked up longest ago. */
const MAX_NAMES = 4_096;
const TICK_MS = 1_000;
/** The minimum time between two background lookups of a name. */
const REFRESH_MS = 5_000;
/** The most background lookups that start together. Hundreds of packets at once overflow the buffer of a name server. */
const MAX_REFRESHES = 32;
/** An unused name is dropped after this time. */
const UNUSED_NAME_MS = 3_600_000;

/**
 * Resolves host names: from `/etc/hosts` first, then from the name servers through c-ares, which needs no thread. Addresses are
 * cached for their time to live. Each name has at most one lookup at a time, and stale addresses stay in use until it succeeds.
 */
export class NameResolver {
  readonly counts = new LookupCounts();
  readonly #names = new Map<string, HostName>();
  /** The number of endpoints with each name. */
  readonly #references = new Map<string, number>();
  readonly #listeners = new Set<ResolutionListener>();
  readonly #context: ResolverContext;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: NameResolverOptions = {}) {
    const { hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf', servers = [] } = options;
    const { now = () => performance.now() } = options;
    const files = new ResolverFiles(hostsPath, resolvConfPath);
    const report: ResolutionListener = (name, reason) => {
      for (const listener of this.#listeners) listener(name, reason);
    };
    this.#context = { files, servers, counts: this.counts, now, report };
  }

  get names(): number {
    return this.#names.size;
  }

  /** The number of names whose last lookup failed. */
  get failingNames(): number {
    let count = 0;
    for (const name of this.#names.values()) if (name.isFailing) count += 1;
    return count;
  }

  /** Returns the entry of a host name. Call it for each connection, because unused entries are dropped. */
  hostName(host: string): HostName {
    return getOrCreate(this.#names, host.toLowerCase(), (name) => {
      const [oldest] = this.#names.keys();
      if (oldest !== undefined && this.#names.size >= MAX_NAMES) this.#drop(oldest);
      return new HostName(name, this.#context);
    });
  }

  /** Retains a name for an endpoint. Returns a function that releases it; the resolver drops a name without endpoints. */
  retain(host: string): () => void {
    const key = host.toLowerCase();
    this.#references.set(key, (this.#references.get(key) ?? 0) + 1);
    return () => {
      const count = (this.#references.get(key) ?? 1) - 1;
      if (count > 0) {
        this.#references.set(key, count);
        return;
      }
      this.#references.delete(key);
      this.#drop(key);
    };
  }

  /** Returns `null` for an IP address, which needs no lookup. */
  statusOf(host: string): ResolutionStatus | null {
    if (isIP(host) !== 0) return null;
    return this.#names.get(host.toLowerCase())?.status ?? { state: 'pending', addresses: [], reason: null };
  }

  /** Reports names that stop resolving or resolve again, and refreshes names in use. Returns a function that ends the subscription. */
  subscribe(listener: ResolutionListener): () => void {
    this.#listeners.add(listener);
    this.#ticker ??= setInterval(this.#tick, TICK_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#ticker);
      this.#ticker = undefined;
      for (const name of this.#names.values()) name.cancelRefresh();
    };
  }

  #drop(name: string): void {
    this.#names.get(name)?.cancelRefresh();
    this.#names.delete(name);
  }

  readonly #tick = (): void => {
    if (this.#names.size === 0) return;
    const { files, now } = this.#context;
    if (files.isReady) files.checkForChanges();
    else return;
    let started = 0;
    for (const [host, name] of this.#names) {
      const isUnused = name.connections === 0 && !name.isLookingUp && now() - name.usedAt > UNUSED_NAME_MS;
      if (isUnused) this.#names.delete(host);
      else if (started < MAX_REFRESHES && name.isRefreshDue(REFRESH_MS)) {
        started += 1;
        name.refresh();
        // Move the name to the end, so that names that keep failing do not delay the others.
        this.#names.delete(host);
        this.#names.set(host, name);
      }
    }
  };
}

/** The resolver of this process, with the files and name servers of the machine. It reads nothing before the first lookup. */
export const systemResolver = new NameResolver();
