import { isLoopback } from '../../../engine/dns/loopback.ts';
import type { Redis } from '../../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';

export const storePlain: Rule = {
  id: 'store-plain',
  category: 'limits',
  severity: 'warning',
  preset: 'strict',
  rationale: 'Anyone on the network path can read the password of Redis, and delete the counters.',
  *find({ manifest }) {
    for (const [id, { redis }] of Object.entries(manifest.stores))
      for (const [text, path] of urlsOf(redis, ['stores', id, 'redis'])) {
        const { protocol, hostname } = new URL(text);
        if (protocol === 'redis:' && !isLoopback(hostname))
          yield findingAt(path, 'the gateway connects to this server without TLS; write a rediss:// URL');
      }
  },
};

function urlsOf(redis: string | Redis, path: Path): readonly (readonly [url: string, path: Path])[] {
  if (typeof redis === 'string') return [[redis, path]];
  const { url, sentinels, cluster } = redis;
  if (url !== undefined) return [[url, [...path, 'url']]];
  const key = sentinels === undefined ? 'cluster' : 'sentinels';
  return (sentinels ?? cluster ?? []).map((each, index) => [each, [...path, key, index]]);
}
