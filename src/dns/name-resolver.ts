import { isIP } from 'node:net';
import type { DnsErrorCode } from './dns-error.ts';
import { HostName, type ResolverContext } from './host-name.ts';
import { LookupCounts } from './lookup-counts.ts';
import { LookupSlots } from './lookup-slots.ts';
import type { ResolutionStatus } from './resolution-status.ts';
import { ResolverFiles } from './resolver-files.ts';

export interface NameResolverOptions {
  /** Addresses, with ports where they are not 53, in place of those of `resolvConfPath`. */
  readonly servers?: readonly string[];
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** A name begins to fail, with the reason, or resolves again. */
export type ResolutionListener = (name: string, reason: DnsErrorCode | undefined) => void;

/** More names than any manifest has; the one that was used longest ago makes room. */
const MAX_NAMES = 4_096;
const TICK_MS = 1_000;
/** At least this long from one background look-up of a name to the next. */
const REFRESH_MS = 5_000;
/** Background look-ups that begin at once: hundreds of packets in one moment are more than a name server's buffer holds. */
const MAX_REFRESHES = 32;
/** A name that nothing used for this long is forgotten. */
const UNUSED_NAME_MS = 3_600_000;

/**
 * Resolves the names of upstreams: `/etc/hosts` first, then the name servers, through c-ares, which needs no thread. Names are
 * cached by their time to live, one look-up at a time for each, and stale addresses serve while a look-up fails or takes its time.
 */
export class NameResolver {
  readonly counts = new LookupCounts();
  readonly #names = new Map<string, HostName>();
  /** Names of endpoints, with the number of endpoints that have each. */
  readonly #held = new Map<string, number>();
  readonly #listeners = new Set<ResolutionListener>();
  readonly #context: ResolverContext;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: NameResolverOptions = {}) {
    const { hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf', servers } = options;
    const { now = () => performance.now() } = options;
    const files = new ResolverFiles({ hostsPath, resolvConfPath });
    const slots = new LookupSlots(() => servers ?? files.resolvConf.servers);
    const report: ResolutionListener = (name, reason) => {
      for (const listener of this.#listeners) listener(name, reason);
    };
    this.#context = { files, slots, counts: this.counts, now, report };
  }

  /** Look-ups on the network, and those that wait for a place. */
  get inFlight(): number {
    const { inUse, waiting } = this.#context.slots;
    return inUse + waiting;
  }

  /** Names with an entry. */
  get names(): number {
    return this.#names.size;
  }

  /** Names whose last look-up failed. */
  get failingNames(): number {
    let count = 0;
    for (const name of this.#names.values()) if (name.isFailing) count += 1;
    return count;
  }

  /** The entry of a host name; get it again for each connection, since a name that nothing uses is forgotten. */
  hostName(host: string): HostName {
    const key = host.toLowerCase();
    let name = this.#names.get(key);
    if (name === undefined) {
      if (this.#names.size >= MAX_NAMES) this.#forgetOldest();
      name = new HostName(key, this.#context);
      this.#names.set(key, name);
    }
    return name;
  }

  /**
   * An endpoint has this name.
   *
   * @returns ends it: a name is forgotten with its last endpoint, so that nothing looks it up or reports it any longer
   */
  retain(host: string): () => void {
    const key = host.toLowerCase();
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(key) ?? 1) - 1;
      if (left > 0) {
        this.#held.set(key, left);
        return;
      }
      this.#held.delete(key);
      this.#names.get(key)?.cancelRefresh();
      this.#names.delete(key);
    };
  }

  /** `null`: an IP address, which is never looked up. */
  statusOf(host: string): ResolutionStatus | null {
    if (isIP(host) !== 0) return null;
    return this.#names.get(host.toLowerCase())?.status ?? { state: 'pending', addresses: [], reason: null };
  }

  /**
   * Reports names that begin to fail or resolve again. While anybody listens, the names in use are kept current in the background.
   *
   * @returns ends it
   */
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

  #forgetOldest(): void {
    let oldest: [string, HostName] | undefined;
    for (const entry of this.#names) if (oldest === undefined || entry[1].usedAt < oldest[1].usedAt) oldest = entry;
    if (oldest === undefined) return;
    oldest[1].cancelRefresh();
    this.#names.delete(oldest[0]);
  }

  readonly #tick = (): void => {
    if (this.#names.size === 0) return;
    const { files, now } = this.#context;
    if (files.isReady) files.checkForChanges();
    else return;
    let begun = 0;
    for (const [host, name] of this.#names) {
      const isUnused = name.connections === 0 && !name.isLookingUp && now() - name.usedAt > UNUSED_NAME_MS;
      if (isUnused) this.#names.delete(host);
      else if (begun < MAX_REFRESHES && name.isRefreshDue(REFRESH_MS)) {
        begun += 1;
        name.refresh();
        // It goes to the end, so that names that fail again and again leave the others their turn.
        this.#names.delete(host);
        this.#names.set(host, name);
      }
    }
  };
}
