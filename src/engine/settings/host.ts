import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** RFC 1123 section 2.1. The underscore is not in it, but name servers and container networks use it. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const MAX_NAME_LENGTH = 253;
/** Libraries read such a name as an IPv4 address in one of its old forms: `127.1`, `0x7f.1` (WHATWG URL section 3.5). */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i;
/** A mistyped IPv4 address, such as `127.0.0.x` or `10.0.0.1O`, would be a valid host name that nobody has registered. */
const MISTYPED_ADDRESS = /^(?:\d+\.){3}(?:[^.]{1,3}|\d[^.]*)$/;

/**
 * Returns why no connection can use a host, as the start of a message; `undefined` for an address or a host name. The name
 * may still not resolve, and the address may belong to another machine.
 *
 * @param host an IPv6 address with or without brackets
 */
export function hostError(host: string): string | undefined {
  const address = host.replace(/^\[|\]$/g, '');
  if (host.startsWith('[') || address.includes(':')) return ipv6Error(address);
  if (NUMBER_AT_END.test(host) || MISTYPED_ADDRESS.test(host))
    return isIPv4(host) ? multicastError(host) : 'this is not an IPv4 address, which is four numbers from 0 to 255';
  const name = host.replace(/\.$/, '');
  const isName = name.length <= MAX_NAME_LENGTH && name.split('.').every((label) => LABEL.test(label));
  return isName ? undefined : 'this is not a host name, which has letters, digits and hyphens between its dots';
}

function ipv6Error(address: string): string | undefined {
  if (!isIPv6(address)) return 'this is not an IPv6 address';
  if (LINK_LOCAL.check(address, 'ipv6')) return 'a link-local address needs a zone, and a manifest cannot contain one';
  return multicastError(address);
}

/** RFC 4291 section 2.5.6. */
const LINK_LOCAL = blockList(['fe80::', 10, 'ipv6']);
/** RFC 5771, RFC 4291 section 2.7, and the limited broadcast address of RFC 919. */
const MULTICAST = blockList(['224.0.0.0', 4, 'ipv4'], ['ff00::', 8, 'ipv6'], ['255.255.255.255', 32, 'ipv4']);

function multicastError(address: string): string | undefined {
  const isMulticast = MULTICAST.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return isMulticast ? 'TCP has no multicast and broadcast addresses' : undefined;
}

function blockList(...blocks: [string, number, 'ipv4' | 'ipv6'][]): BlockList {
  const list = new BlockList();
  for (const block of blocks) list.addSubnet(...block);
  return list;
}
