/** The bits of an IPv6 address that form its key: one client may have all addresses of a /64. */
const NETWORK_BITS = 64;
const GROUP_BITS = 16;
/** The first groups of an IPv4 address in its IPv6 form (RFC 4291 section 2.5.5.2). */
const IPV4_MAPPED = [0, 0, 0, 0, 0, 0xffff];

/**
 * Returns the key that identifies a client: an IPv4 address, or the network of an IPv6 address.
 *
 * @param networkBits the prefix length of an IPv6 network, from 1 to 128
 */
export function clientKey(address: string, networkBits = NETWORK_BITS): string {
  if (!address.includes(':')) return address;
  const all = groupsOf(address);
  if (isIpv4Mapped(all)) return formatIpv4(all.slice(IPV4_MAPPED.length));
  const groups = all.slice(0, Math.ceil(networkBits / GROUP_BITS));
  const hostBits = groups.length * GROUP_BITS - networkBits;
  const last = groups.length - 1;
  if (hostBits > 0) groups[last] = (groups[last] as number) & (0xffff << hostBits);
  return groups.map((group) => group.toString(16)).join(':');
}

/** Returns the IPv4 address for its IPv6 form, in which a listener on `[::]` reports IPv4 clients; otherwise the same address. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address);
  return isIpv4Mapped(groups) ? formatIpv4(groups.slice(IPV4_MAPPED.length)) : address;
}

function isIpv4Mapped(groups: readonly number[]): boolean {
  return IPV4_MAPPED.every((group, index) => groups[index] === group);
}

/** Returns the eight groups of an IPv6 address (RFC 4291 section 2.2). */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = parseGroups(head);
  const lastGroups = parseGroups(tail);
  while (groups.length + lastGroups.length < 8) groups.push(0);
  return [...groups, ...lastGroups];
}

function parseGroups(text: string): number[] {
  return text === ''
    ? []
    : text.split(':').flatMap((group) => (group.includes('.') ? parseIpv4(group) : [Number.parseInt(group, 16)]));
}

/** An IPv4 address at the end of an IPv6 address stands for two groups. */
function parseIpv4(text: string): [number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

function formatIpv4(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
}

/** Sums an amount for each key. A key with an amount of 0 takes no memory. */
export class UsageByKey<Key> {
  readonly #amounts = new Map<Key, number>();

  /** The number of keys with an amount. */
  get size(): number {
    return this.#amounts.size;
  }

  of(key: Key): number {
    return this.#amounts.get(key) ?? 0;
  }

  /** @param amount negative to release */
  add(key: Key, amount: number): void {
    const total = this.of(key) + amount;
    if (total > 0) this.#amounts.set(key, total);
    else this.#amounts.delete(key);
  }
}
