import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Manifest, Upstream as UpstreamEntry } from '../manifest/manifest.generated.ts';
import { durationMs, sizeBytes, timerMs } from '../manifest/units.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { hostError, parseHttpUrl, socketPathError, socketPathOf } from './address.ts';
import type { CompileContext } from './compile-context.ts';
import { checkPair, readCertificate, readPrivateKey } from './tls.ts';
import type { BreakerSettings, Endpoint, Upstream, UpstreamTls } from './upstream-definition.ts';

/** Upstreams by id; `undefined` for one that violates the schema. */
export type Upstreams = ReadonlyMap<string, Upstream | undefined>;

/** The upstreams of a manifest whose own are invalid, or below a key that is not known. */
const UNKNOWN_UPSTREAMS: Upstreams = new Map();

/** @param invalidParts the parts that violate the schema: `upstreams`, or `upstreams/contacts` */
export function compileUpstreams(manifest: Manifest, invalidParts: ReadonlySet<string>, context: CompileContext) {
  if (invalidParts.has('upstreams')) return UNKNOWN_UPSTREAMS;
  const entries = Object.entries(manifest.upstreams);
  if (entries.length === 0 && invalidParts.has('')) return UNKNOWN_UPSTREAMS;
  return new Map(
    entries.map(([id, entry]) => [
      id,
      invalidParts.has(`upstreams/${id}`) ? undefined : compileUpstream(id, entry, context),
    ]),
  );
}

function compileUpstream(id: string, entry: UpstreamEntry, context: CompileContext): Upstream {
  const { findings } = context;
  const { timeouts, connections } = entry;
  const endpoints = compileEndpoints(id, entry, context);
  const tls = compileUpstreamTls(['upstreams', id], entry, endpoints, context);
  const tlsKey = hash('sha256', JSON.stringify(tls));
  return Object.freeze({
    id,
    // A new certificate needs new connections, so the files are a part of the key.
    key: JSON.stringify([id, entry, tlsKey]),
    tlsKey,
    endpoints,
    host: compileHost(id, entry, findings),
    balance: entry.balance,
    connectTimeoutMs: timerMs(timeouts.connect),
    responseTimeoutMs: timerMs(timeouts.response),
    idleTimeoutMs: timerMs(timeouts.idle),
    eventStreamTimeoutMs: timeouts.eventStream === undefined ? 0 : timerMs(timeouts.eventStream),
    totalTimeoutMs: timeouts.total === undefined ? undefined : timerMs(timeouts.total),
    connectionLimit: connections.limit,
    queueLimit: connections.queue,
    responseHeadLimitBytes: compileHeadLimit(id, entry, findings),
    retry: entry.retry,
    health: compileHealth(id, entry.health, findings),
    breaker: compileBreaker(entry, endpoints.length),
    tls: () => tls,
  });
}

function compileHeadLimit(id: string, { limits }: UpstreamEntry, findings: Finding[]): number {
  const bytes = sizeBytes(limits.responseHeadBytes);
  const message = 'this must be from 1KB to 256KB; write for example 64KB';
  if (bytes < 1_024 || bytes > 262_144)
    findings.push(errorAt(['upstreams', id, 'limits', 'responseHeadBytes'], 'server-limit', message));
  return bytes;
}

function compileHealth(id: string, health: UpstreamEntry['health'], findings: Finding[]): Upstream['health'] {
  if (health === undefined) return undefined;
  if (health.path !== undefined && health.connect !== undefined) {
    const message = '"path" and "connect" are both set; write one of them';
    findings.push(errorAtKey(['upstreams', id, 'health', 'connect'], 'upstream-health', message));
  }
  return {
    path: health.path,
    intervalMs: timerMs(health.interval),
    timeoutMs: timerMs(health.timeout),
    healthyThreshold: health.healthy,
    unhealthyThreshold: health.unhealthy,
    required: health.required,
  };
}

/** The default breaker of an upstream with several endpoints, with the defaults of the schema. */
const DEFAULT_BREAKER: BreakerSettings = Object.freeze({ failures: 5, pauseMs: 10_000, isDefault: true });

function compileBreaker({ breaker }: UpstreamEntry, endpoints: number): BreakerSettings | undefined {
  // With one endpoint, requests could not go to another one.
  if (breaker === undefined) return endpoints > 1 ? DEFAULT_BREAKER : undefined;
  if (!breaker.enabled) return undefined;
  return { failures: breaker.failures, pauseMs: durationMs(breaker.pause), isDefault: false };
}

function compileEndpoints(id: string, entry: UpstreamEntry, { secrets, findings }: CompileContext): Endpoint[] {
  if (entry.url !== undefined && entry.urls !== undefined) {
    const message = '"url" and "urls" are both set; write one of them';
    findings.push(errorAtKey(['upstreams', id, 'urls'], 'upstream-url', message));
  }
  const entries =
    entry.url === undefined
      ? (entry.urls ?? []).map((text, index) => ({ text, at: ['urls', index] }))
      : [{ text: entry.url, at: ['url'] }];
  const otherScheme = entries.find(({ text }) => schemeOf(text) !== schemeOf(entries[0]?.text ?? ''));
  if (otherScheme !== undefined) {
    const message = 'the endpoints of one upstream must all use http or all use https; write one scheme';
    findings.push(quoteFreeErrorAt(['upstreams', id, ...otherScheme.at], 'upstream-url', message));
  }
  const labels = new Set<string>();
  return entries.flatMap(({ text, at }) => {
    const url = parseEndpoint(text);
    if (typeof url !== 'string') {
      const redacted = secrets.redactValue(text, ['upstreams', id, ...at]);
      const label = unique(redacted !== text || url.protocol === 'unix:' ? redacted : url.origin, labels);
      return [{ url, label, serverName: serverNameOf(url, entry.tls?.serverName) }];
    }
    const message = `${url}; write scheme, host and port, such as http://127.0.0.1:7001, or unix:/run/app.sock`;
    findings.push(quoteFreeErrorAt(['upstreams', id, ...at], 'upstream-url', message));
    return [];
  });
}

function parseEndpoint(text: string): URL | string {
  const path = socketPathOf(text);
  return path === undefined ? parseHttpUrl(text) : (socketPathError(path) ?? new URL(text));
}

function compileHost(id: string, { host }: UpstreamEntry, findings: Finding[]): string {
  const url = parseHttpUrl(`http://${host}`);
  const lower = host.toLowerCase();
  const isMisspelt = host !== lower && (lower === 'client' || lower === 'upstream');
  // A URL has no default port, and its host is in lower case.
  const isHost = typeof url !== 'string' && url.host === lower.replace(/:80$/, '');
  if (!isHost || isMisspelt) {
    const message =
      'this is not a host with or without a port; write client, upstream, or for example api.partner.example';
    findings.push(quoteFreeErrorAt(['upstreams', id, 'host'], 'upstream-url', message));
  }
  return host;
}

/** Numbers the labels of endpoints that come from one variable. */
function unique(label: string, labels: Set<string>): string {
  let candidate = label;
  for (let number = 2; labels.has(candidate); number += 1) candidate = `${label} #${number}`;
  labels.add(candidate);
  return candidate;
}

/** No other process of the network reads a unix socket, but it has no TLS either. */
function schemeOf(text: string): string {
  return socketPathOf(text) === undefined ? text.slice(0, text.indexOf(':')) : 'http';
}

/** Returns the name for SNI: the configured one, or the host unless it is an IP address. */
export function serverNameOf(url: URL, configured: string | undefined): string | undefined {
  if (url.protocol !== 'https:') return undefined;
  return configured ?? (isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : undefined);
}

/** Finds the upstream that is named at a path, and reports an error there if it does not exist. */
export function findUpstream(id: string, path: Path, upstreams: Upstreams, findings: Finding[]): Upstream | undefined {
  if (upstreams.has(id)) return upstreams.get(id);
  const { valid, invalid } = namesOf(upstreams);
  // The key of an invalid upstream may be the misspelt name, not this one.
  if (upstreams === UNKNOWN_UPSTREAMS || didYouMean(id, invalid) !== undefined) return undefined;
  // Without upstreams, all names have the same cause.
  if (upstreams.size === 0 && findings.some(({ rule }) => rule === 'upstream-unknown')) return undefined;
  const remedy =
    upstreams.size === 0 ? `; add upstreams: { ${id}: { url: http://127.0.0.1:7002 } }` : suggestion(id, valid);
  const message = `no upstream is named "${id}"${remedy}`;
  findings.push(errorAt(path, 'upstream-unknown', message));
  return undefined;
}

const NAMES = new WeakMap<Upstreams, { readonly valid: string[]; readonly invalid: string[] }>();

/** Returns the names of upstreams, once for thousands of routes that name an unknown one. */
function namesOf(upstreams: Upstreams) {
  const [valid, invalid]: [string[], string[]] = [[], []];
  const names = NAMES.get(upstreams) ?? { valid, invalid };
  if (!NAMES.has(upstreams))
    for (const [name, upstream] of upstreams) (upstream === undefined ? invalid : valid).push(name);
  NAMES.set(upstreams, names);
  return names;
}

/** Reads the files of an upstream's `tls`, and reports invalid ones. */
function compileUpstreamTls(
  upstream: Path,
  { tls }: UpstreamEntry,
  endpoints: readonly Endpoint[],
  compile: CompileContext,
): UpstreamTls {
  if (tls === undefined) return {};
  const path = [...upstream, 'tls'];
  const context = { ...compile, rule: 'upstream-tls' };
  const { findings } = compile;
  if (endpoints.some(({ url }) => url.protocol !== 'https:')) {
    const message = '"tls" needs https; write https:// for every endpoint of this upstream';
    findings.push(errorAtKey(path, 'upstream-tls', message));
  }
  const certificateAt = (name: 'ca' | 'certificate') =>
    tls[name] === undefined ? undefined : readCertificate(tls[name], [...path, name], context);
  const ca = certificateAt('ca');
  const certificate = certificateAt('certificate');
  const key = tls.key === undefined ? undefined : readPrivateKey(tls.key, [...path, 'key'], context);
  checkPairComplete(tls, path, findings);
  checkPair(certificate, key, path, context);
  if (tls.serverName !== undefined) checkServerName(tls.serverName, [...path, 'serverName'], findings);
  return {
    ...(ca === undefined ? {} : { ca: ca.text }),
    ...(certificate === undefined ? {} : { cert: certificate.text }),
    ...(key === undefined ? {} : { key: key.text }),
  };
}

/** Node refuses to connect with an IP address as the name for SNI (RFC 6066 section 3). */
function checkServerName(name: string, path: Path, findings: Finding[]): void {
  const reason = isIP(name) === 0 ? hostError(name) : 'TLS has no server names that are IP addresses';
  if (reason === undefined) return;
  const message = `${reason}; write the host name of the certificate, or remove "serverName"`;
  findings.push(quoteFreeErrorAt(path, 'upstream-tls', message));
}

function checkPairComplete(tls: NonNullable<UpstreamEntry['tls']>, path: Path, findings: Finding[]): void {
  if ((tls.certificate === undefined) === (tls.key === undefined)) return;
  const [given, missing] = tls.certificate === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
  const message = `"${given}" needs the matching "${missing}"; add ${missing}: with a PEM file`;
  findings.push(errorAtKey([...path, given as string], 'upstream-tls', message));
}
