import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Server } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { durationMs, sizeBytes } from '../manifest/units.ts';
import { type Finding, quoteFreeErrorAt } from '../problem/finding.ts';
import { compileTls, type ServerTls } from './tls.ts';

/** The settings of the listener, which apply to all routes. */
export interface ServerSettings {
  /** One text for each key of `server` in the manifest, equal for equal definitions. */
  readonly keys: Readonly<
    Record<'workers' | 'tls' | 'trustedProxies' | 'timeouts' | 'limits' | 'rateLimitHeaders' | 'stopping', string>
  >;
  /** The number of threads that serve requests. `auto`: one per processor that the process may use. */
  readonly workers: number | 'auto';
  /** `undefined` for plain HTTP. */
  readonly tls: ServerTls | undefined;
  /** Returns true for the address of a trusted proxy; `undefined` if no peer is trusted. */
  readonly trustedProxies: ((address: string) => boolean) | undefined;
  /** Never longer than `requestTimeoutMs`. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a client may stall: read no bytes of its response, or send no bytes of its body. */
  readonly stalledTimeoutMs: number;
  /** Limit of the request line and the headers together. */
  readonly headerLimitBytes: number;
  readonly maxHeaders: number;
  readonly maxConnections: number;
  readonly maxRequestsPerConnection: number;
  /** Limit of all buffered bodies together. */
  readonly bufferLimitBytes: number;
  /** True if responses have the `RateLimit` fields of the IETF draft 11. */
  readonly hasRateLimitHeaders: boolean;
  /** During shutdown: how long the gateway still accepts connections, and how long requests may then take to end. */
  readonly stopping: { readonly delayMs: number; readonly graceMs: number };
}

const DAY_MS = 86_400_000;
const MIN_HEADER_BYTES = 1024;
const MAX_HEADER_BYTES = 1024 ** 2;
const MIN_BUFFERED_BYTES = 1024 ** 2;

export function compileServer(entry: Server, readFile: Environment['readFile'], findings: Finding[]): ServerSettings {
  const { tls, trustedProxies, timeouts, limits, stopping } = entry;
  const pair = tls && compileTls(tls, ['server', 'tls'], readFile, findings);
  const timeoutMs = (key: keyof Server['timeouts']) => compileTimeout(timeouts[key], key, findings);
  const requestTimeoutMs = timeoutMs('request');
  return Object.freeze({
    keys: {
      workers: String(entry.workers),
      tls: pair === undefined ? '' : createHash('sha256').update(JSON.stringify(pair.pem())).digest('hex'),
      trustedProxies: JSON.stringify(trustedProxies),
      timeouts: JSON.stringify(timeouts),
      limits: JSON.stringify(limits),
      rateLimitHeaders: entry.rateLimitHeaders,
      stopping: JSON.stringify(stopping),
    },
    // A number from an environment variable is a string.
    workers: entry.workers === 'auto' ? 'auto' : Number(entry.workers),
    tls: pair,
    trustedProxies: compileTrustedProxies(trustedProxies, findings),
    // The head is a part of the request, so its timeout cannot be longer.
    headersTimeoutMs: Math.min(timeoutMs('headers'), requestTimeoutMs),
    requestTimeoutMs,
    keepAliveTimeoutMs: timeoutMs('keepAlive'),
    stalledTimeoutMs: timeoutMs('stalled'),
    headerLimitBytes: compileHeaderBytes(limits.headerBytes, findings),
    maxHeaders: limits.headers,
    maxConnections: limits.connections,
    maxRequestsPerConnection: limits.requestsPerConnection,
    bufferLimitBytes: compileBufferedBodies(limits.bufferedBodies, findings),
    hasRateLimitHeaders: entry.rateLimitHeaders !== 'off',
    stopping: {
      delayMs: compileShutdownDelay(stopping.delay, 'delay', findings),
      graceMs: compileShutdownDelay(stopping.grace, 'grace', findings),
    },
  });
}

/** Refuses zero, which Node's server reads as no timeout, and more than a day. */
function compileTimeout(text: string, key: string, findings: Finding[]): number {
  const ms = durationMs(text);
  if (ms < 1 || ms > DAY_MS)
    findings.push(
      quoteFreeErrorAt(
        ['server', 'timeouts', key],
        'server-timeout',
        'this must be from 1ms to 24h; write for example 60s',
      ),
    );
  return ms;
}

/** Zero is allowed: no delay. */
function compileShutdownDelay(text: string, key: string, findings: Finding[]): number {
  const ms = durationMs(text);
  const path = ['server', 'stopping', key];
  if (ms > DAY_MS)
    findings.push(quoteFreeErrorAt(path, 'server-timeout', 'this must be no more than 24h; write for example 30s'));
  return ms;
}

function compileHeaderBytes(text: string, findings: Finding[]): number {
  const bytes = sizeBytes(text);
  if (bytes < MIN_HEADER_BYTES || bytes > MAX_HEADER_BYTES)
    findings.push(
      quoteFreeErrorAt(
        ['server', 'limits', 'headerBytes'],
        'server-limit',
        'this must be from 1KB to 1MB; write for example 16KB',
      ),
    );
  return bytes;
}

function compileBufferedBodies(text: string, findings: Finding[]): number {
  const bytes = sizeBytes(text);
  if (bytes < MIN_BUFFERED_BYTES)
    findings.push(
      quoteFreeErrorAt(
        ['server', 'limits', 'bufferedBodies'],
        'server-limit',
        'this must be at least 1MB; write for example 256MB',
      ),
    );
  return bytes;
}

/**
 * Compiles the check for peers whose forwarding headers are trusted; `undefined` if there are none. An IPv4 block includes its
 * addresses in the IPv6 form of dual-stack sockets (`::ffff:10.0.0.1`, RFC 4291 section 2.5.5.2).
 */
function compileTrustedProxies(
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
