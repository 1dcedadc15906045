import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Manifest, Upstream as UpstreamEntry } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { durationMs, timerMs } from '../manifest/units.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Target, Upstream } from './plan.ts';
import { compileUpstreamTls } from './upstream-tls.ts';

/** By name; `undefined` for one that the schema has refused. */
export type Upstreams = ReadonlyMap<string, Upstream | undefined>;

/** @param faulty what the schema has refused: `upstreams`, or `upstreams/contacts` */
export function compileUpstreams(
  manifest: Manifest,
  faulty: ReadonlySet<string>,
  readFile: World['readFile'],
  findings: Finding[],
): Upstreams {
  const entries = Object.entries(faulty.has('upstreams') ? {} : (manifest.upstreams ?? {}));
  return new Map(
    entries.map(([id, entry]) => [
      id,
      faulty.has(`upstreams/${id}`) ? undefined : compileUpstream(id, entry, readFile, findings),
    ]),
  );
}

function compileUpstream(id: string, entry: UpstreamEntry, readFile: World['readFile'], findings: Finding[]): Upstream {
  const { timeouts, connections, health, breaker } = entry;
  const targets = compileTargets(id, entry, findings);
  const tls = compileUpstreamTls(['upstreams', id], entry, targets, readFile, findings);
  const tlsKey = hash('sha256', JSON.stringify(tls));
  return Object.freeze({
    id,
    // Files are a part of the definition: another certificate means other connections.
    key: JSON.stringify([id, entry, tlsKey]),
    tlsKey,
    targets,
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
      healthy: health.healthy,
      unhealthy: health.unhealthy,
      required: health.required,
    },
    breaker: breaker && { failures: breaker.failures, pauseMs: durationMs(breaker.pause) },
    tls: () => tls,
  });
}

function compileTargets(id: string, entry: UpstreamEntry, findings: Finding[]): Target[] {
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
  return written.flatMap(({ text, at }) => {
    const url = URL.parse(text);
    if (url !== null) return [{ url, serverName: serverNameOf(url, entry.tls?.serverName) }];
    const message = 'this is no URL; write scheme, host and port, such as http://127.0.0.1:7001';
    findings.push(errorAt(['upstreams', id, ...at], 'upstream-url', message));
    return [];
  });
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
