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

/** True if the first list contains every address of the second one. */
export function coversRanges(outer: readonly AddressRange[], inner: readonly AddressRange[]): boolean {
  return inner.every(([first, last]) => outer.some(([start, end]) => start <= first && last <= end));
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
