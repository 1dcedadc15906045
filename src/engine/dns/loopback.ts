import { isIPv4 } from 'node:net';

/**
 * True for `localhost` and the names under it. They always mean this machine (RFC 6761 section 6.3): the resolver
 * never sends them to a name server, and a listener binds to `localhost` in their place.
 */
export function isLocalhostName(name: string): boolean {
  return /^(?:[^.]+\.)*localhost\.?$/i.test(name);
}

/**
 * True if only this machine can reach a host: a loopback address (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3),
 * an IPv6 address with or without brackets, or a localhost name.
 */
export function isLoopback(host: string): boolean {
  return (host.startsWith('127.') && isIPv4(host)) || /^(?:\[::1\]|::1)$/.test(host) || isLocalhostName(host);
}

/** True if no other machine can read or change the traffic to a URL: it uses TLS or stays on this machine. */
export function isProtectedInTransit({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || protocol === 'unix:' || isLoopback(hostname);
}
