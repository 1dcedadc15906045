const PAUSE_MS = 10_000;

/** One address of a name. Its connections refer to it, to detect that it was removed. */
export class HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
  /** True if the name no longer has this address. */
  isRemoved = false;
  #avoidedUntil = 0;

  constructor(ip: string) {
    this.ip = ip;
    this.family = ip.includes(':') ? 6 : 4;
  }

  /** True during the pause after a failed connection: other addresses come first. */
  get isAvoided(): boolean {
    return performance.now() < this.#avoidedUntil;
  }

  recordSuccess(): void {
    this.#avoidedUntil = 0;
  }

  recordFailure(): void {
    this.#avoidedUntil = performance.now() + PAUSE_MS;
  }
}

/** Limits the memory. Further addresses of a name are ignored. */
const MAX_ADDRESSES = 256;
/** The number of addresses that one connection attempt may try. */
const MAX_ATTEMPTS = 4;

/** The addresses of a name, used in rotation. */
export class AddressList {
  #addresses: readonly HostAddress[] = [];
  #nextIndex = 0;

  get size(): number {
    return this.#addresses.length;
  }

  get ips(): string[] {
    return this.#addresses.map(({ ip }) => ip);
  }

  /** Replaces the addresses. An address in both lists keeps its state; a missing one is marked as removed. */
  replace(ips: readonly string[]): void {
    const previous = new Map(this.#addresses.map((address) => [address.ip, address]));
    const unique = [...new Set(ips)].slice(0, MAX_ADDRESSES);
    this.#addresses = unique.map((ip) => previous.get(ip) ?? new HostAddress(ip));
    for (const ip of unique) previous.delete(ip);
    for (const address of previous.values()) address.isRemoved = true;
  }

  /** Returns the addresses to try for the next connection, best first. Recently failed addresses come last. */
  next(rotate: boolean): HostAddress[] {
    const all = this.#addresses;
    const start = rotate ? this.#nextIndex : 0;
    const avoided = new Set(all.filter(({ isAvoided }) => isAvoided));
    const inTurn = [...all.slice(start), ...all.slice(0, start)];
    const best = inTurn.sort((a, b) => Number(avoided.has(a)) - Number(avoided.has(b))).slice(0, MAX_ATTEMPTS);
    // Continue after the first one; otherwise the address after an avoided one would get two shares.
    this.#nextIndex = (all.indexOf(best[0] as HostAddress) + 1) % Math.max(all.length, 1);
    return best;
  }
}
