import { isIPv4 } from 'node:net';

/** A range of IPv6 addresses, both ends included. IPv4 addresses have their mapped form (RFC 4291 section 2.5.5.2). */
type AddressRange = readonly [first: bigint, last: bigint];

/** Returns IP addresses and CIDR blocks as sorted ranges, which are equal for lists of the same addresses. */
export function addressRanges(blocks: readonly string[]): readonly AddressRange[] {
  const ranges = blocks.map(rangeOf).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const merged: AddressRange[] = [];
  for (const [first, last] of ranges) {
    const previous = merged.at(-1);
    if (previous === undefined || previous[1] + 1n < first) merged.push([first, last]);
    else merged.splice(-1, 1, [previous[0], last > previous[1] ? last : previous[1]]);
  }
  return merged;
}

/** Returns an address that only the first list contains; `undefined` if there is none. */
export function addressOnlyIn(one: readonly AddressRange[], other: readonly AddressRange[]): string | undefined {
  const isIn = (ranges: readonly AddressRange[], bits: bigint) =>
    ranges.some(([first, last]) => first <= bits && bits <= last);
  const candidates = [...one.map(([first]) => first), ...other.map(([, last]) => last + 1n)];
  const bits = candidates.find((candidate) => isIn(one, candidate) && !isIn(other, candidate));
  return bits === undefined ? undefined : addressText(bits);
}

function addressText(bits: bigint): string {
  const group = (index: number, length: number) =>
    Number((bits >> BigInt(index * length)) & ((1n << BigInt(length)) - 1n));
  if (bits >> 32n === 0xffffn) return [3, 2, 1, 0].map((index) => group(index, 8)).join('.');
  return [7, 6, 5, 4, 3, 2, 1, 0].map((index) => group(index, 16).toString(16)).join(':');
}

/** Returns an IPv6 address without its brackets as 128 bits, or an IPv4 address in its mapped form. */
function addressBits(address: string): bigint {
  if (isIPv4(address)) return addressBits(`::ffff:${address}`);
  // The URL parser writes all eight groups in hexadecimal, except for the longest run of zeros.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

function rangeOf(block: string): AddressRange {
  const [address = '', prefix] = block.split('/');
  const bits = addressBits(address);
  const unusedBits = prefix === undefined ? 0n : BigInt((isIPv4(address) ? 32 : 128) - Number(prefix));
  const first = (bits >> unusedBits) << unusedBits;
  return [first, first + (1n << unusedBits) - 1n];
}
