import type { LintUpstream } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const rateLimitHigh: Rule = {
  id: 'rate-limit-high',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'If a limit allows more requests at once than the connections and the queue of the upstream hold, a single client fills both before the limit stops it.',
  *find({ manifest, routes }) {
    const reported = new Set<string>();
    for (const { route } of routes)
      for (const { id, burst } of Object.values(route.rateLimits ?? {}).flat()) {
        const room = roomOf(route.upstream);
        if (burst <= room || reported.has(id)) continue;
        reported.add(id);
        const key = manifest.rateLimits[id]?.burst === undefined ? 'allow' : 'burst';
        yield findingAt(
          ['rateLimits', id, key],
          `${burst} requests may come at once, and the upstream "${route.upstream.id}" takes ${room}; set burst to less`,
          { related: { path: ['upstreams', route.upstream.id], message: 'its connections and its queue' } },
        );
      }
  },
};

/** Returns the number of requests that an upstream can process and keep waiting at one time. */
function roomOf({ endpoints, connectionLimit, queueLimit }: LintUpstream['upstream']): number {
  return endpoints.length * connectionLimit + queueLimit;
}
