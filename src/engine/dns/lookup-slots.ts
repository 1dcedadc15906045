import { Resolver } from 'node:dns';

/** A lookup that needs a slot. */
export interface SlotHolder {
  /** True if a connection waits for the lookup. A lookup with waiters may preempt one without. */
  readonly hasWaiters: boolean;
  /** True if the last lookup of the name failed. Such names never use all slots. */
  readonly isFailing: boolean;
  /** The lookup has a slot and may start. */
  onSlot(channel: Resolver): void;
  /** Another lookup needs the slot. The holder must call `release`. */
  cancel(): void;
}

/** The most concurrent lookups. Each has its own channel, so that it can be cancelled separately. */
const MAX_SLOTS = 256;
/** The most slots for names that do not resolve. The others are reserved for names that do. */
const MAX_FAILING = 192;
/** The timeouts of c-ares for the first try and for each try. */
const TRY_MS = 1_000;
const MAX_TRY_MS = 2_000;
const TRIES = 3;

/** Limits the concurrent lookups on the network. Names that resolve have priority. */
export class LookupSlots {
  readonly #servers: () => readonly string[];
  readonly #holders = new Set<SlotHolder>();
  /** The holders whose names did not resolve before. */
  readonly #failing = new Set<SlotHolder>();
  readonly #waiting = new Set<SlotHolder>();

  /** @param servers the name servers of the next lookup; empty to let c-ares find them */
  constructor(servers: () => readonly string[]) {
    this.#servers = servers;
  }

  /** The number of lookups on the network. */
  get inUse(): number {
    return this.#holders.size;
  }

  /** The number of lookups that wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  acquire(holder: SlotHolder): void {
    if (this.#hasRoom(holder)) this.#assign(holder);
    else {
      this.#waiting.add(holder);
      if (holder.hasWaiters) this.preemptFor(holder);
    }
  }

  /** Releases the slot of a lookup, or stops its wait. */
  release(holder: SlotHolder): void {
    this.#waiting.delete(holder);
    this.#failing.delete(holder);
    if (!this.#holders.delete(holder)) return;
    const next = this.#next();
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#assign(next);
  }

  /** Preempts a lookup without waiters for one with waiters. */
  preemptFor({ isFailing }: SlotHolder): void {
    for (const holder of this.#holders) {
      if (holder.hasWaiters || (isFailing && !this.#failing.has(holder))) continue;
      holder.cancel();
      return;
    }
  }

  #hasRoom({ isFailing }: SlotHolder): boolean {
    return this.#holders.size < MAX_SLOTS && (!isFailing || this.#failing.size < MAX_FAILING);
  }

  /** Returns the lookup that has waited longest. Lookups with waiters whose names resolve come first. */
  #next(): SlotHolder | undefined {
    let best: SlotHolder | undefined;
    for (const holder of this.#waiting) {
      if (!this.#hasRoom(holder)) continue;
      if (!holder.isFailing && holder.hasWaiters) return holder;
      best ??= holder;
    }
    return best;
  }

  #assign(holder: SlotHolder): void {
    this.#holders.add(holder);
    if (holder.isFailing) this.#failing.add(holder);
    const servers = this.#servers();
    const channel = new Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: MAX_TRY_MS });
    if (servers.length > 0) channel.setServers(servers);
    holder.onSlot(channel);
  }
}
