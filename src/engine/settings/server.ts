import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Reload, Server } from '../manifest/manifest.generated.ts';
import { describeFileError, type Environment, fileErrorCode } from '../manifest/source.ts';
import { durationMs, sizeBytes, timerMs } from '../manifest/units.ts';
import { type Finding, quoteFreeErrorAt } from '../problem/finding.ts';
import { familyOf } from './address.ts';
import type { CompileContext } from './compile-context.ts';
import { compileResponseHeaders } from './header-rules.ts';
import { compileTls } from './tls.ts';

/** The settings of the listener, which apply to all routes. */
export type ServerSettings = ReturnType<typeof compileServer>;

const DAY_MS = 86_400_000;
const KB = 1024;
const MB = 1024 ** 2;

export function compileServer(entry: Server, context: CompileContext) {
  const { findings } = context;
  const { tls, trustedProxies, timeouts, limits, stopping } = entry;
  const pair = tls && compileTls(tls, ['server', 'tls'], context);
  // Node's server reads zero as no timeout.
  const timeoutMs = (key: keyof Server['timeouts']) => {
    const message = 'this must be from 1ms to 24h; write for example 60s';
    return inRange(durationMs(timeouts[key]), [1, DAY_MS], ['timeouts', key], message, findings);
  };
  const stoppingMs = (key: keyof Server['stopping']) => {
    const message = 'this must be no more than 24h; write for example 30s';
    return inRange(durationMs(stopping[key]), [0, DAY_MS], ['stopping', key], message, findings);
  };
  const limitBytes = (key: 'headerBytes' | 'bufferedBodies', range: Range, message: string) =>
    inRange(sizeBytes(limits[key]), range, ['limits', key], message, findings);
  const requestTimeoutMs = timeoutMs('request');
  return Object.freeze({
    /** One text for each key of `server` in the manifest, equal for equal definitions. */
    keys: {
      workers: String(entry.workers),
      tls: pair === undefined ? '' : createHash('sha256').update(JSON.stringify(pair.pem())).digest('hex'),
      trustedProxies: JSON.stringify(trustedProxies),
      timeouts: JSON.stringify(timeouts),
      limits: JSON.stringify(limits),
      responseHeaders: JSON.stringify(entry.responseHeaders),
      rateLimitHeaders: entry.rateLimitHeaders,
      via: entry.via ?? '',
      stopping: JSON.stringify(stopping),
    },
    /** The number of threads that serve requests. `auto`: one per processor that the process may use. */
    // A number from an environment variable is a string.
    workers: entry.workers === 'auto' ? 'auto' : Number(entry.workers),
    /** `undefined` for plain HTTP. */
    tls: pair,
    /** Returns true for the address of a trusted proxy; `undefined` if no peer is trusted. */
    trustedProxies: compileTrustedProxies(trustedProxies, findings),
    // The head is a part of the request, so its timeout cannot be longer.
    headersTimeoutMs: Math.min(timeoutMs('headers'), requestTimeoutMs),
    requestTimeoutMs,
    keepAliveTimeoutMs: timeoutMs('keepAlive'),
    /** How long a client may stall: read no bytes of its response, or send no bytes of its body. */
    stalledTimeoutMs: timeoutMs('stalled'),
    /** Limit of the request line and the headers together. */
    headerLimitBytes: limitBytes('headerBytes', [KB, MB], 'this must be from 1KB to 1MB; write for example 16KB'),
    maxHeaders: limits.headers,
    maxConnections: limits.connections,
    maxRequestsPerConnection: limits.requestsPerConnection,
    /** Limit of all buffered bodies together. */
    bufferLimitBytes: limitBytes(
      'bufferedBodies',
      [MB, Number.POSITIVE_INFINITY],
      'this must be at least 1MB; write for example 256MB',
    ),
    /** The pseudonym of this gateway in `Via`; `undefined` for the random one of the process. */
    via: entry.via,
    /** Headers of every response that lacks them, as alternating names and values. */
    responseHeaders: compileResponseHeaders(entry.responseHeaders, findings),
    /** True if responses have the `RateLimit` fields of the IETF draft 11. */
    hasRateLimitHeaders: entry.rateLimitHeaders !== 'off',
    /** During shutdown: how long the gateway still accepts connections, and how long requests may then take to end. */
    stopping: { delayMs: stoppingMs('delay'), graceMs: stoppingMs('grace') },
  });
}

/** Reports a setting out of its range. @returns the value */
function inRange(value: number, [min, max]: Range, path: readonly string[], message: string, findings: Finding[]) {
  const rule = path[0] === 'limits' ? 'server-limit' : 'server-timeout';
  if (value < min || value > max) findings.push(quoteFreeErrorAt(['server', ...path], rule, message));
  return value;
}

type Range = readonly [min: number, max: number];

/**
 * Compiles the check for peers whose forwarding headers are trusted; `undefined` if there are none. An IPv4 block includes its
 * addresses in the IPv6 form of dual-stack sockets (`::ffff:10.0.0.1`, RFC 4291 section 2.5.5.2).
 */
function compileTrustedProxies(entries: readonly string[], findings: Finding[]) {
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
  return (address: string) => blocks.check(address, familyOf(address));
}

/**
 * How a plan replaces the active one: a test file that it must pass, by its path relative to the manifest, and how long WebSockets and
 * event streams of a changed or removed route continue.
 */
export type ReloadSettings = ReturnType<typeof compileReload>;

/** Compiles `reload`. Checks that the test file can be read; running it checks its contents. */
export function compileReload({ selfTest, grace }: Reload, readFile: Environment['readFile'], findings: Finding[]) {
  try {
    if (selfTest !== undefined) readFile(selfTest);
  } catch (error) {
    const message = `the file cannot be read: ${describeFileError(fileErrorCode(error))}`;
    findings.push(quoteFreeErrorAt(['reload', 'selfTest'], 'self-test', message));
  }
  return Object.freeze({ selfTest, graceMs: timerMs(grace) });
}
