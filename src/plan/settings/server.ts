import { createHash } from 'node:crypto';
import type { Server } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { durationMs, sizeBytes } from '../../manifest/units.ts';
import { errorAt, type Finding } from '../../problem/finding.ts';
import { compileTls, type ServerTls } from './tls.ts';
import { compileTrustedProxies } from './trusted-proxies.ts';

/** How clients are served, whatever they ask for. */
export interface ServerSettings {
  /** Equal for equal definitions, by the keys of `server` in the manifest. */
  readonly keys: Readonly<Record<'tls' | 'trustedProxies' | 'timeouts' | 'limits' | 'stopping', string>>;
  /** `undefined`: plain HTTP. */
  readonly tls: ServerTls | undefined;
  /** Whether an address is that of a trusted proxy; `undefined`: no peer is trusted. */
  readonly trustedProxies: ((address: string) => boolean) | undefined;
  /** Never longer than `requestTimeoutMs`. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of its answer, or send nothing of its body. */
  readonly stalledTimeoutMs: number;
  /** Of the request line and the headers together. */
  readonly headerLimitBytes: number;
  readonly maxHeaders: number;
  readonly maxConnections: number;
  readonly maxRequestsPerConnection: number;
  /** How many bytes of bodies may be in memory at once. */
  readonly bufferLimitBytes: number;
  /** For how long, once the process was asked to stop, connections are taken still, and from then on requests may end. */
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
      tls: pair === undefined ? '' : createHash('sha256').update(JSON.stringify(pair.pem())).digest('hex'),
      trustedProxies: JSON.stringify(trustedProxies),
      timeouts: JSON.stringify(timeouts),
      limits: JSON.stringify(limits),
      stopping: JSON.stringify(stopping),
    },
    tls: pair,
    trustedProxies: compileTrustedProxies(trustedProxies, findings),
    // The head is a part of the request: a longer time for it would never be reached.
    headersTimeoutMs: Math.min(timeoutMs('headers'), requestTimeoutMs),
    requestTimeoutMs,
    keepAliveTimeoutMs: timeoutMs('keepAlive'),
    stalledTimeoutMs: timeoutMs('stalled'),
    headerLimitBytes: compileHeaderBytes(limits.headerBytes, findings),
    maxHeaders: limits.headers,
    maxConnections: limits.connections,
    maxRequestsPerConnection: limits.requestsPerConnection,
    bufferLimitBytes: compileBufferedBodies(limits.bufferedBodies, findings),
    stopping: {
      delayMs: compileShutdownDelay(stopping.delay, 'delay', findings),
      graceMs: compileShutdownDelay(stopping.grace, 'grace', findings),
    },
  });
}

/** To Node's server zero means without end, and its timers hold no more than 24 days. */
function compileTimeout(text: string, key: string, findings: Finding[]): number {
  const ms = durationMs(text);
  if (ms < 1 || ms > DAY_MS)
    findings.push(
      errorAt(['server', 'timeouts', key], 'server-timeout', 'this must be from 1ms to 24h; write for example 60s'),
    );
  return ms;
}

/** Nothing is a time here. */
function compileShutdownDelay(text: string, key: string, findings: Finding[]): number {
  const ms = durationMs(text);
  const path = ['server', 'stopping', key];
  if (ms > DAY_MS)
    findings.push(errorAt(path, 'server-timeout', 'this must be no more than 24h; write for example 30s'));
  return ms;
}

function compileHeaderBytes(text: string, findings: Finding[]): number {
  const bytes = sizeBytes(text);
  if (bytes < MIN_HEADER_BYTES || bytes > MAX_HEADER_BYTES)
    findings.push(
      errorAt(
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
      errorAt(
        ['server', 'limits', 'bufferedBodies'],
        'server-limit',
        'this must be at least 1MB; write for example 256MB',
      ),
    );
  return bytes;
}
