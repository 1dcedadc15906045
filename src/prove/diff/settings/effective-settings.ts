import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { posix } from 'node:path';
import { isLocalhostName } from '../../../engine/dns/loopback.ts';
import type { Manifest, Redis, Upstream as UpstreamEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../../engine/manifest/source.ts';
import { durationMs, sizeBytes, timerMs } from '../../../engine/manifest/units.ts';
import type { Plan } from '../../../engine/plan/plan.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { listenerOf, parseAddress } from '../../../engine/settings/address.ts';
import { addressRanges } from './address-ranges.ts';

/** Returns the manifest in one form: the admin API as a map, and the circuit breaker of each upstream, by default or not. */
export function uniformManifest(manifest: Manifest): Manifest {
  const { admin, upstreams, ...rest } = manifest;
  const uniformUpstreams = Object.entries(upstreams).map(([id, entry]) => [id, withBreaker(entry)]);
  return {
    ...rest,
    ...(admin !== undefined && { admin: typeof admin === 'string' ? { listen: admin } : admin }),
    upstreams: Object.fromEntries(uniformUpstreams),
  };
}

/** Returns the values of a manifest as they take effect, equal for those that behave alike: milliseconds, bytes, sorted lists. */
export function effectiveSettings(manifest: Manifest, plan: Plan, readFile: Environment['readFile']): unknown {
  const { auth, server } = manifest;
  const { routes: _routes, schemas: _schemas, ...settings } = manifest;
  const effective = normalize(settings, [], readFile) as Pick<Manifest, 'auth' | 'server'>;
  const timeouts = { ...(effective.server.timeouts as object), headers: plan.server.headersTimeoutMs };
  return {
    ...effective,
    server: { ...effective.server, ...(server !== undefined && { timeouts }) },
    // Clients never receive a realm from the environment.
    ...(auth !== undefined && { auth: { ...effective.auth, realm: plan.auth?.challengePrefix } }),
  };
}

/** The breaker of an upstream with several endpoints that configures none. `compileBreaker` has the same values. */
const DEFAULT_BREAKER = { enabled: 'by default', failures: 5, pause: '10s' };

function withBreaker({ breaker, ...entry }: UpstreamEntry): UpstreamEntry {
  if (breaker?.enabled === false) return entry;
  if (breaker !== undefined) return { ...entry, breaker };
  const hasDefault = (entry.urls?.length ?? 0) > 1;
  return hasDefault ? { ...entry, breaker: DEFAULT_BREAKER as unknown as NonNullable<typeof breaker> } : entry;
}

/** Returns the effect of a value: equal for values that differ only in how they are written. */
type Normalization = (value: never, readFile: Environment['readFile']) => unknown;

/** The normalization of each key. Other values have one form only. */
const NORMALIZATIONS = (
  [
    ['listen', listenAddress],
    ['admin listen', address],
    ['admin|server tls *', file],
    ['server workers', String],
    ['server trustedProxies', addressRanges],
    ['server timeouts|stopping *', durationMs],
    ['server limits headerBytes|bufferedBodies', sizeBytes],
    ['reload selfTest', posix.normalize],
    ['reload grace', timerMs],
    ['upstreams * timeouts *', timerMs],
    ['upstreams * limits responseHeadBytes', sizeBytes],
    ['upstreams * health interval|timeout', timerMs],
    ['upstreams * breaker pause', durationMs],
    ['stores * redis', redis],
    ['stores * timeout', timerMs],
    ['auth tokens jwt jwks', keySource],
    ['auth tokens jwt discovery', (url: string) => new URL(url).href.replace(/\/$/, '')],
    ['auth tokens jwt requiredClaims', (names: string[]) => unordered(names.filter((name) => name !== 'exp'))],
    ['auth tokens jwt type', mediaTypeOfToken],
    ['auth tokens * audience', (value: string | string[]) => unordered([value].flat())],
    ['auth tokens * endpoint', (value: unknown) => (typeof value === 'string' ? new URL(value).href : value)],
    ['auth tokens * algorithms|requiredClaims', unordered],
    ['auth tokens * clockTolerance|timeout|staleIfError', durationMs],
    ['auth tokens * cache maxAge', durationMs],
    ['cors origins|methods', unordered],
    ['cors headers|exposedHeaders', unorderedNames],
    // Browsers receive whole seconds.
    ['cors maxAge', (duration: string) => Math.floor(durationMs(duration) / 1000)],
    ['routes * timeout', timerMs],
    ['routes * body multipart parts * types', mediaTypes],
    ['routes * body multipart parts * maxBytes', sizeBytes],
  ] satisfies [string, Normalization][]
).map(([path, effectOf]) => ({ pattern: parsePathPattern(path), effectOf: effectOf as Normalization }));

/** A text with everything that decides who may connect. */
function listenAddress(listen: Manifest['listen']): string {
  const { address: text, mode } = listenerOf(listen);
  return mode === undefined ? address(text) : `${text} ${mode}`;
}

function address(text: string): string {
  const { host, port } = parseAddress(text);
  if (isLocalhostName(host)) return `localhost:${port}`;
  return `${isIPv6(host) ? new URL(`http://[${host}]`).hostname : host.toLowerCase()}:${port}`;
}

/** The path and the contents of a file. The hash stays in the process; no output contains it. */
function file(path: string, readFile: Environment['readFile']): readonly string[] {
  return [posix.normalize(path), hashOf(readFile(path))];
}

/** The order of servers means nothing, and a map with only a URL means the same as the URL. */
function redis(entry: string | Redis, readFile: Environment['readFile']): string {
  const { url, sentinels, cluster, ca, ...rest } = typeof entry === 'string' ? { url: entry } : entry;
  const urls = [url ?? sentinels ?? cluster ?? []].flat().map((one) => new URL(one).href.replace(/\/0?$/, ''));
  const kind = url !== undefined ? 'url' : sentinels !== undefined ? 'sentinels' : 'cluster';
  const certificates = ca === undefined ? undefined : file(ca, readFile);
  return JSON.stringify([kind, unordered(urls), certificates, Object.entries(rest).sort()]);
}

/** The URL of a key set, or its keys, in a file or in the manifest itself. */
function keySource(jwks: unknown, readFile: Environment['readFile']): unknown {
  if (typeof jwks === 'string' && /^https?:/.test(jwks)) return new URL(jwks).href;
  const keySet = typeof jwks === 'string' ? JSON.parse(readFile(jwks)) : jwks;
  return [keySet.keys.map((key: object) => hashOf(JSON.stringify(Object.entries(key).sort()))).sort()];
}

/** A type means the same in any letter case, and with `application/` or without (RFC 7515 section 4.1.9). */
function mediaTypeOfToken(type: string): string {
  const lower = type.toLowerCase();
  return lower.includes('/') ? lower : `application/${lower}`;
}

function unordered(items: readonly string[]): readonly string[] {
  return [...new Set(items)].sort();
}

function unorderedNames(names: readonly string[]): readonly string[] {
  return unordered(names.map((name) => name.toLowerCase()));
}

/** A type that a range such as `image/*` includes adds nothing. */
function mediaTypes(types: readonly string[]): readonly string[] {
  const names = unorderedNames(types);
  return names.filter((name) => {
    const range = name.replace(/\/.*/, '/*');
    return name === range || !names.includes(range);
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns a copy of a value at a path with the effect of every value inside it. Only those outside routes need `readFile`. */
export function normalize(
  value: unknown,
  path: readonly string[],
  readFile: Environment['readFile'] = refuseFile,
): unknown {
  const found = NORMALIZATIONS.find(({ pattern }) => pattern.length === path.length && startsWith(path, pattern));
  if (found !== undefined && value !== undefined) return found.effectOf(value as never, readFile);
  if (Array.isArray(value)) return value.map((item, index) => normalize(item, [...path, String(index)], readFile));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, normalize(item, [...path, key], readFile)]),
  );
}

function refuseFile(path: string): never {
  throw new TypeError(`no file is expected here: ${path}`);
}

/** The keys of a path in the manifest, each with its alternatives. `*` stands for any key. */
export type PathPattern = readonly (readonly string[])[];

/** Parses a pattern such as `auth tokens * issuer|audience`. */
export function parsePathPattern(text: string): PathPattern {
  return text
    .split(' ')
    .filter(Boolean)
    .map((key) => key.split('|'));
}

/** True if a path begins with the keys of a pattern. */
export function startsWith(path: Path, pattern: PathPattern): boolean {
  return pattern.every((keys, index) => keys[0] === '*' || keys.includes(String(path[index])));
}
