import { BlockList, isIP } from 'node:net';
import { type Finding, quoteFreeErrorAt } from '../problem/finding.ts';

/**
 * Compiles the check for peers whose forwarding headers are trusted; `undefined` if there are none. An IPv4 block includes its
 * addresses in the IPv6 form of dual-stack sockets (`::ffff:10.0.0.1`, RFC 4291 section 2.5.5.2).
 */
export function compileTrustedProxies(
  entries: readonly string[],
  findings: Finding[],
): ((address: string) => boolean) | undefined {
  if (entries.length === 0) return undefined;
  const blocks = new BlockList();
  for (const [index, entry] of entries.entries()) {
    const [address = '', prefix] = entry.split('/');
    const family = familyOf(address);
    const length = family === 'ipv4' ? 32 : 128;
    if (isIP(address) === 0 || Number(prefix ?? length) > length) {
      const message = 'this is not an address or a CIDR block; write for example 192.0.2.7 or 10.0.0.0/8';
      findings.push(quoteFreeErrorAt(['server', 'trustedProxies', index], 'trusted-proxy', message));
    } else {
      blocks.addSubnet(address, Number(prefix ?? length), family);
    }
  }
  return (address) => blocks.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
