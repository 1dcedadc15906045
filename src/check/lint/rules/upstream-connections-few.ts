import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamConnectionsFew: Rule = {
  id: 'upstream-connections-few',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A connection belongs to one worker. If an endpoint allows fewer connections than there are workers, they close idle connections for each other, and requests wait for new ones.',
  *find(context) {
    const { workers } = context.plan.server;
    // With `auto` the number depends on the machine.
    if (workers === 'auto') return;
    for (const { path, upstream } of upstreamsOf(context))
      if (upstream.connectionLimit < workers)
        yield findingAt(
          [...path, 'connections', 'limit'],
          `this is less than the ${workers} workers, which must then close connections for each other; write at least ${workers}, or use fewer workers`,
        );
  },
};
