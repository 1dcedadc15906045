import { BlockList, isIP, isIPv4 } from 'node:net';
import { type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import type { ListenAddress } from './address.ts';

/** Reports an admin API on the address of the gateway: the second listener could not bind it. */
export function checkListeners(listen: ListenAddress, admin: ListenAddress, path: Path, findings: Finding[]): void {
  if (admin.port === 0 || admin.port !== listen.port || !isSharedHost(listen.host, admin.host)) return;
  const message = '"listen" already uses this port; write another one';
  const related = { path: ['listen'], message: 'the same port' };
  findings.push({ ...quoteFreeErrorAt(path, 'listen-twice', message), related });
}

/** True if two listeners cannot bind the same port. Only the system knows the addresses of a name. */
function isSharedHost(one: string, other: string): boolean {
  if (one.toLowerCase() === other.toLowerCase()) return true;
  if ([one, other].some((host) => isListed(host, '::', 128))) return true;
  return addressesOf(one).some((address) =>
    addressesOf(other).some((another) => includes(address, another) || includes(another, address)),
  );
}

function addressesOf(host: string): string[] {
  if (host === 'localhost') return ['127.0.0.1', '::1'];
  return isIP(host) === 0 ? [] : [host];
}

/** True if a listener of the first address accepts connections to the second one. */
function includes(listener: string, address: string): boolean {
  const isAnyIpv4 = isListed(listener, '0.0.0.0', 32);
  return isAnyIpv4 ? isListed(address, '0.0.0.0', 0) : isListed(address, listener, isIPv4(listener) ? 32 : 128);
}

/** True if an address is in a block, in any spelling. The IPv6 form of an IPv4 address is the same address. */
function isListed(address: string, block: string, prefix: number): boolean {
  if (isIP(address) === 0) return false;
  const list = new BlockList();
  list.addSubnet(block, prefix, isIPv4(block) ? 'ipv4' : 'ipv6');
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
