import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamTimeoutOrder: Rule = {
  id: 'upstream-timeout-order',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A limit that lies behind another one is never reached: whoever wrote it expects something that does not happen.',
  *find(subject) {
    for (const { path, entry, upstream } of upstreamsOf(subject)) {
      const { connectTimeoutMs, responseTimeoutMs, totalTimeoutMs = Number.POSITIVE_INFINITY, health } = upstream;
      const { connect, response } = entry.timeouts;
      if (totalTimeoutMs <= connectTimeoutMs)
        yield findingAt(
          [...path, 'timeouts', 'total'],
          `it all ends before "connect" (${connect}) does; write more than that`,
        );
      else if (totalTimeoutMs < responseTimeoutMs)
        yield findingAt(
          [...path, 'timeouts', 'total'],
          `it all ends before "response" (${response}) does; write more than that, or lower "response"`,
        );
      if (health !== undefined && health.timeoutMs > health.intervalMs)
        yield findingAt(
          [...path, 'health', 'timeout'],
          `the next question is due (${entry.health?.interval}) before this one has ended; write no more than "interval"`,
        );
    }
    for (const { entry, route, path } of subject.routes) {
      if (route.timeoutMs === undefined || route.timeoutMs > route.upstream.connectTimeoutMs) continue;
      const { connect } = subject.manifest.upstreams[entry.upstream]?.timeouts ?? {};
      yield findingAt(
        [...path, 'timeout'],
        `it all ends before "connect" of "${entry.upstream}" (${connect}) does; write more than that`,
      );
    }
  },
};
