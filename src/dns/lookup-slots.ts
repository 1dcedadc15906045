import { Resolver } from 'node:dns';

/** A look-up that needs one of the places. */
export interface SlotHolder {
  /** Somebody waits for it; one that nobody waits for gives way to one that somebody waits for. */
  readonly hasWaiters: boolean;
  /** The last look-up of its name failed: such names never take all the places. */
  readonly isFailing: boolean;
  onSlot(channel: Resolver): void;
  /** Its place goes to another one: it must call `leave`. */
  onPreempted(): void;
}

/** Look-ups at once; each has a channel of its own, so that it can be cancelled alone. */
const MAX_SLOTS = 256;
/** The rest stays free for names that resolve. */
const MAX_FAILING = 192;
/** c-ares: the first try, and the longest one. */
const TRY_MS = 1_000;
const MAX_TRY_MS = 2_000;
const TRIES = 3;

interface LookupSlot {
  readonly channel: Resolver;
  /** The servers that the channel asks. */
  readonly servers: readonly string[];
  readonly isFailing: boolean;
}

/** Bounds the look-ups that are on the network at once. Names that resolve come first. */
export class LookupSlots {
  readonly #servers: () => readonly string[];
  readonly #taken = new Map<SlotHolder, LookupSlot>();
  readonly #waiting = new Set<SlotHolder>();
  /** Channels without a look-up, all for the servers of the last one. */
  #idle: Resolver[] = [];
  #idleServers: readonly string[] = [];
  #failing = 0;

  /** @param servers those that the next look-up asks; empty: those that c-ares finds by itself */
  constructor(servers: () => readonly string[]) {
    this.#servers = servers;
  }

  /** Look-ups on the network. */
  get inUse(): number {
    return this.#taken.size;
  }

  /** Look-ups that wait for a place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  acquire(placed: SlotHolder): void {
    if (this.#hasRoom(placed)) this.#place(placed);
    else {
      this.#waiting.add(placed);
      if (placed.hasWaiters) this.preemptFor(placed);
    }
  }

  /** Also for one that only waits. */
  release(placed: SlotHolder): void {
    this.#waiting.delete(placed);
    const place = this.#taken.get(placed);
    if (place === undefined) return;
    this.#taken.delete(placed);
    if (place.isFailing) this.#failing -= 1;
    if (place.servers === this.#idleServers) this.#idle.push(place.channel);
    const next = this.#next();
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#place(next);
  }

  /** Takes the place of a look-up that nobody waits for, for one that somebody waits for now. */
  preemptFor({ isFailing }: SlotHolder): void {
    for (const [taken, place] of this.#taken) {
      if (taken.hasWaiters || (isFailing && !place.isFailing)) continue;
      taken.onPreempted();
      return;
    }
  }

  #hasRoom({ isFailing }: SlotHolder): boolean {
    return this.#taken.size < MAX_SLOTS && (!isFailing || this.#failing < MAX_FAILING);
  }

  /** The look-up that has waited longest: of those whose name does not fail and somebody waits for, if there are any. */
  #next(): SlotHolder | undefined {
    let best: SlotHolder | undefined;
    for (const placed of this.#waiting) {
      if (!this.#hasRoom(placed)) continue;
      if (!placed.isFailing && placed.hasWaiters) return placed;
      best ??= placed;
    }
    return best;
  }

  #place(placed: SlotHolder): void {
    const servers = this.#servers();
    const channel = this.#channel(servers);
    const { isFailing } = placed;
    this.#taken.set(placed, { channel, servers, isFailing });
    if (isFailing) this.#failing += 1;
    placed.onSlot(channel);
  }

  #channel(servers: readonly string[]): Resolver {
    if (servers !== this.#idleServers) this.#idle = [];
    this.#idleServers = servers;
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const channel = new Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: MAX_TRY_MS });
    if (servers.length > 0) channel.setServers(servers);
    return channel;
  }
}
