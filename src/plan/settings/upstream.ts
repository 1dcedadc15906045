import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Manifest, Upstream as UpstreamEntry } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { durationMs, timerMs } from '../../manifest/units.ts';
import { didYouMean, suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { BreakerSettings, Endpoint, Upstream } from './upstream-definition.ts';
import { compileUpstreamTls } from './upstream-tls.ts';

interface UpstreamContext {
  readonly readFile: Environment['readFile'];
  readonly secrets: Secrets;
  readonly findings: Finding[];
}

/** By name; `undefined` for one that the schema has refused. */
export type Upstreams = ReadonlyMap<string, Upstream | undefined>;

/** @param faulty what the schema has refused: `upstreams`, or `upstreams/contacts` */
export function compileUpstreams(manifest: Manifest, faulty: ReadonlySet<string>, context: UpstreamContext): Upstreams {
  const entries = Object.entries(faulty.has('upstreams') ? {} : (manifest.upstreams ?? {}));
  return new Map(
    entries.map(([id, entry]) => [id, faulty.has(`upstreams/${id}`) ? undefined : compileUpstream(id, entry, context)]),
  );
}

function compileUpstream(id: string, entry: UpstreamEntry, context: UpstreamContext): Upstream {
  const { readFile, findings } = context;
  const { timeouts, connections, health } = entry;
  const endpoints = compileEndpoints(id, entry, context);
  const tls = compileUpstreamTls(['upstreams', id], entry, endpoints, readFile, findings);
  const tlsKey = hash('sha256', JSON.stringify(tls));
  return Object.freeze({
    id,
    // Files are a part of the definition: another certificate means other connections.
    key: JSON.stringify([id, entry, tlsKey]),
    tlsKey,
    endpoints,
    balance: entry.balance,
    connectTimeoutMs: timerMs(timeouts.connect),
    responseTimeoutMs: timerMs(timeouts.response),
    idleTimeoutMs: timerMs(timeouts.idle),
    totalTimeoutMs: timeouts.total === undefined ? undefined : timerMs(timeouts.total),
    connectionLimit: connections.limit,
    queueLimit: connections.queue,
    retry: entry.retry,
    health: health && {
      path: health.path,
      intervalMs: timerMs(health.interval),
      timeoutMs: timerMs(health.timeout),
      healthyThreshold: health.healthy,
      unhealthyThreshold: health.unhealthy,
      required: health.required,
    },
    breaker: compileBreaker(entry, endpoints.length),
    tls: () => tls,
  });
}

/** The breaker of an upstream with several endpoints that does not mention one; the same numbers as in the schema. */
const DEFAULT_BREAKER: BreakerSettings = Object.freeze({ failures: 5, pauseMs: 10_000, isDefault: true });

function compileBreaker({ breaker }: UpstreamEntry, endpoints: number): BreakerSettings | undefined {
  // One endpoint has no other to take its requests.
  if (breaker === undefined) return endpoints > 1 ? DEFAULT_BREAKER : undefined;
  if (!breaker.enabled) return undefined;
  return { failures: breaker.failures, pauseMs: durationMs(breaker.pause), isDefault: false };
}

function compileEndpoints(id: string, entry: UpstreamEntry, { secrets, findings }: UpstreamContext): Endpoint[] {
  if (entry.url !== undefined && entry.urls !== undefined) {
    const message = '"url" and "urls" both stand here; write one of them';
    findings.push(errorAtKey(['upstreams', id, 'urls'], 'upstream-url', message));
  }
  const written =
    entry.url === undefined
      ? (entry.urls ?? []).map((text, index) => ({ text, at: ['urls', index] }))
      : [{ text: entry.url, at: ['url'] }];
  const stray = written.find(({ text }) => schemeOf(text) !== schemeOf(written[0]?.text ?? ''));
  if (stray !== undefined) {
    const message = 'the targets of one upstream are all http or all https; write them alike';
    findings.push(errorAt(['upstreams', id, ...stray.at], 'upstream-url', message));
  }
  const names = new Set<string>();
  return written.flatMap(({ text, at }) => {
    const url = URL.parse(text);
    if (url !== null) {
      const shown = secrets.redactValue(text, ['upstreams', id, ...at]);
      const name = unique(shown === text ? url.origin : shown, names);
      return [{ url, label: name, serverName: serverNameOf(url, entry.tls?.serverName) }];
    }
    const message = 'this is no URL; write scheme, host and port, such as http://127.0.0.1:7001';
    findings.push(errorAt(['upstreams', id, ...at], 'upstream-url', message));
    return [];
  });
}

/** Of several endpoints by one variable each has a number. */
function unique(name: string, names: Set<string>): string {
  let free = name;
  for (let turn = 2; names.has(free); turn += 1) free = `${name} #${turn}`;
  names.add(free);
  return free;
}

function schemeOf(text: string): string {
  return text.slice(0, text.indexOf(':'));
}

/** The name that TLS asks a server for: not an address. */
export function serverNameOf(url: URL, stated: string | undefined): string | undefined {
  if (url.protocol !== 'https:') return undefined;
  return stated ?? (isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : undefined);
}

/** The upstream that is named at a path; when there is none, that is told there. */
export function findUpstream(id: string, path: Path, upstreams: Upstreams, findings: Finding[]): Upstream | undefined {
  if (upstreams.has(id)) return upstreams.get(id);
  const names = [...upstreams.keys()];
  // A name near to that of a refused upstream may be the right one, and the other the misspelt one.
  const refused = names.filter((name) => upstreams.get(name) === undefined);
  if (names.length === 0 || didYouMean(id, refused) !== undefined) return undefined;
  const sound = names.filter((name) => !refused.includes(name));
  const message = `no upstream is named "${id}"${suggestion(id, sound)}`;
  findings.push(errorAt(path, 'upstream-unknown', message));
  return undefined;
}
