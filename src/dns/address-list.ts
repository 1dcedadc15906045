import { HostAddress } from './host-address.ts';

/** A name with more addresses than this is cut: each of them costs memory, and nobody needs so many. */
const MAX_ADDRESSES = 256;
/** The addresses that one connection attempt may try. */
const MAX_TRIED = 4;

/** The addresses of a name, which take turns. */
export class AddressList {
  #addresses: readonly HostAddress[] = [];
  #turn = 0;

  get size(): number {
    return this.#addresses.length;
  }

  get ips(): string[] {
    return this.#addresses.map(({ ip }) => ip);
  }

  /** Replaces the addresses. One that stays keeps what is known about it; one that is missing is marked as gone. */
  replace(ips: readonly string[]): void {
    const known = new Map(this.#addresses.map((address) => [address.ip, address]));
    const kept = [...new Set(ips)].slice(0, MAX_ADDRESSES);
    this.#addresses = kept.map((ip) => known.get(ip) ?? new HostAddress(ip));
    for (const ip of kept) known.delete(ip);
    for (const address of known.values()) address.isRemoved = true;
  }

  /** The addresses to try for the next connection, best first: the next in turn, and those that failed lately last. */
  next(isInTurn: boolean): HostAddress[] {
    const all = this.#addresses;
    const start = isInTurn ? this.#turn : 0;
    const tried: HostAddress[] = [];
    const avoided: HostAddress[] = [];
    for (let step = 0; step < all.length && tried.length < MAX_TRIED; step += 1) {
      const index = (start + step) % all.length;
      const address = all[index] as HostAddress;
      if (address.isAvoided) {
        if (avoided.length < MAX_TRIED) avoided.push(address);
        continue;
      }
      // The turn moves on from the first address that is used, so that the one behind an avoided one gets no double share.
      if (tried.length === 0) this.#turn = index + 1;
      tried.push(address);
    }
    if (tried.length === 0) this.#turn = start + 1;
    return [...tried, ...avoided].slice(0, MAX_TRIED);
  }
}
