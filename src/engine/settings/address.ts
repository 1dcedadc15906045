import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { isLocalhostName } from '../dns/loopback.ts';
import type { Listener, Manifest, Server } from '../manifest/manifest.generated.ts';
import { type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The unix socket in place of the port, which is 0 then. */
  readonly socket?: SocketFile;
}

export interface SocketFile {
  readonly path: string;
  /** The permissions, as a number. */
  readonly mode: number;
}

/** The length of what a new socket has in its path until it has its permissions: `/run/.gateway.sock-XXXXXX/s`. */
const TEMPORARY_LENGTH = '.-XXXXXX/s'.length;
const DEFAULT_MODE = '0600';

/** Returns `listen` as a map, with the mode of a unix socket. */
export function listenerOf(listen: Manifest['listen']): Listener {
  const listener = typeof listen === 'string' ? { address: listen } : listen;
  return socketPathOf(listener.address) === undefined ? listener : { mode: DEFAULT_MODE, ...listener };
}

/** Compiles `listen`. A unix socket has no port, and only this machine reaches it. @param server `undefined` if it is invalid */
export function compileListen(listen: Manifest['listen'], server: Server | undefined, findings: Finding[]) {
  const { address, mode = '' } = listenerOf(listen);
  const path = typeof listen === 'string' ? ['listen'] : ['listen', 'address'];
  const file = socketPathOf(address);
  if (file === undefined) {
    if (mode !== '') {
      const message = 'only a unix socket has a mode; remove "mode", or write unix: and a path in "address"';
      findings.push(quoteFreeErrorAt(['listen', 'mode'], 'listen-socket', message));
    }
    return compileAddress(address, path, findings);
  }
  const reason = socketPathError(file, TEMPORARY_LENGTH);
  if (reason !== undefined)
    findings.push(quoteFreeErrorAt(path, 'address', `${reason}; write for example unix:/run/gateway.sock`));
  checkServer(server, findings);
  return { host: 'localhost', port: 0, socket: { path: file, mode: Number.parseInt(mode, 8) } };
}

/** Reports settings of the server that a unix socket cannot have. */
function checkServer(server: Server | undefined, findings: Finding[]): void {
  const report = (key: keyof Server, message: string) => {
    const related = { path: ['listen'], message: 'the unix socket' };
    findings.push({ ...quoteFreeErrorAt(['server', key], 'listen-socket', message), related });
  };
  if (server?.tls !== undefined)
    report('tls', 'a unix socket has no TLS; remove "tls", or listen on a host and a port');
  // A number from an environment variable is a string.
  if (server !== undefined && String(server.workers) !== '1')
    report('workers', 'one worker listens on a unix socket; write 1, or listen on a host and a port');
}

/** Returns why a text is not an address for clients, and an example; `undefined` if it is one. */
export function findListenError(text: string): string | undefined {
  if (socketPathOf(text) === undefined) return findAddressError(text);
  const findings: Finding[] = [];
  compileListen(text, undefined, findings);
  return findings[0]?.message;
}

/** Compiles the address of a listener from a text that matches the schema. */
export function compileAddress(text: string, path: Path, findings: Finding[]): ListenAddress {
  const { host, port } = parseAddress(text);
  if (port > 65_535)
    findings.push(quoteFreeErrorAt(path, 'address', 'a port is at most 65535; write a number from 0 to 65535'));
  // The brackets matter: only an IPv6 address may have them.
  const reason = hostError(text.replace(/:\d+$/, ''));
  if (reason !== undefined)
    findings.push(quoteFreeErrorAt(path, 'address', `${reason}; write for example 127.0.0.1:8080 or [::1]:8080`));
  // The system may look up other localhost names at a name server.
  return { host: isLocalhostName(host) ? 'localhost' : host, port };
}

/** Returns why a text is not the address of a listener, and an example; `undefined` if it is one. */
export function findAddressError(text: string): string | undefined {
  // The pattern of the schema.
  if (!/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/.test(text))
    return 'this is not a host and a port; write for example 127.0.0.1:8080 or [::1]:8080';
  const findings: Finding[] = [];
  compileAddress(text, [], findings);
  return findings[0]?.message;
}

/** Splits an address into host and port. An IPv6 host loses its brackets. */
export function parseAddress(text: string): ListenAddress {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(text) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Parses an HTTP URL without credentials. Returns why no request can use it instead, as the start of a message. */
export function parseHttpUrl(text: string): URL | string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'this is not a URL';
  if (url.username !== '' || url.password !== '') return 'a URL with a user or a password is not allowed';
  if (url.port === '0') return 'no server has port 0';
  return hostError(url.hostname) ?? url;
}

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
  return isIP(address) !== 0 && blockList([block, prefix]).check(address, familyOf(address));
}

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
const LINK_LOCAL = blockList(['fe80::', 10]);
/** RFC 5771, RFC 4291 section 2.7, and the limited broadcast address of RFC 919. */
const MULTICAST = blockList(['224.0.0.0', 4], ['ff00::', 8], ['255.255.255.255', 32]);

function multicastError(address: string): string | undefined {
  const isMulticast = MULTICAST.check(address, familyOf(address));
  return isMulticast ? 'TCP has no multicast and broadcast addresses' : undefined;
}

function blockList(...blocks: [address: string, prefix: number][]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of blocks) list.addSubnet(address, prefix, familyOf(address));
  return list;
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** The longest path of a unix socket on every system (unix(7)). */
const MAX_SOCKET_PATH = 103;
const SOCKET_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~@+,=-]+)+$/;

/** Returns the path in `unix:/run/app.sock`; `undefined` for any other address or URL. */
export function socketPathOf(text: string): string | undefined {
  return text.startsWith('unix:') ? text.slice('unix:'.length) : undefined;
}

/**
 * Returns why no unix socket can have a path, as the start of a message; `undefined` if one can.
 *
 * @param reserved the part of the longest path that this one leaves free
 */
export function socketPathError(path: string, reserved = 0): string | undefined {
  const maxLength = MAX_SOCKET_PATH - reserved;
  if (path.length <= maxLength && SOCKET_PATH.test(path)) return undefined;
  return `a unix socket has an absolute path of at most ${maxLength} letters, digits and ._~@+,=-`;
}
