import { isIP } from 'node:net';
import type { Manifest, Upstream as UpstreamEntry } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Upstream } from './plan.ts';

/** By name; `undefined` for one that the schema has refused. */
export type Upstreams = ReadonlyMap<string, Upstream | undefined>;

/** @param faulty what the schema has refused: `upstreams`, or `upstreams/contacts` */
export function compileUpstreams(manifest: Manifest, faulty: ReadonlySet<string>, findings: Finding[]): Upstreams {
  const entries = Object.entries(faulty.has('upstreams') ? {} : (manifest.upstreams ?? {}));
  return new Map(
    entries.map(([id, entry]) => [
      id,
      faulty.has(`upstreams/${id}`) ? undefined : compileUpstream(id, entry, findings),
    ]),
  );
}

function compileUpstream(id: string, entry: UpstreamEntry, findings: Finding[]): Upstream {
  let url = new URL('http://invalid');
  try {
    url = new URL(entry.url);
  } catch {
    findings.push(
      errorAt(
        ['upstreams', id, 'url'],
        'upstream-url',
        'this is no URL; write scheme, host and port, such as http://127.0.0.1:7001',
      ),
    );
  }
  return Object.freeze({
    id,
    key: JSON.stringify([id, entry]),
    url,
    serverName: url.protocol === 'https:' && !isAddress(url.hostname) ? url.hostname : undefined,
    connectTimeoutMs: durationMs(entry.timeouts.connect),
    responseTimeoutMs: durationMs(entry.timeouts.response),
    idleTimeoutMs: durationMs(entry.timeouts.idle),
  });
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

/** The upstream that is named at a path; when there is none, that is told there. */
export function findUpstream(id: string, path: Path, upstreams: Upstreams, findings: Finding[]): Upstream | undefined {
  const names = [...upstreams.keys()];
  // A name near to that of a refused upstream may be the right one, and the other the misspelt one.
  const refused = names.filter((name) => upstreams.get(name) === undefined);
  if (upstreams.has(id) || names.length === 0 || didYouMean(id, refused) !== undefined) return upstreams.get(id);
  const sound = names.filter((name) => !refused.includes(name));
  const message = `no upstream is named "${id}"${suggestion(id, sound)}`;
  findings.push(errorAt(path, 'upstream-unknown', message));
  return undefined;
}
