import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamTimeoutOrder: Rule = {
  id: 'upstream-timeout-order',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A timeout that is longer than an enclosing one never applies, so the manifest promises something that cannot happen.',
  *find(context) {
    for (const { path, entry, upstream } of upstreamsOf(context)) {
      const { connectTimeoutMs, responseTimeoutMs, totalTimeoutMs = Number.POSITIVE_INFINITY, health } = upstream;
      const { connect, response } = entry.timeouts;
      if (totalTimeoutMs <= connectTimeoutMs)
        yield findingAt(
          [...path, 'timeouts', 'total'],
          `"total" expires before "connect" (${connect}); write more than that`,
        );
      else if (totalTimeoutMs < responseTimeoutMs)
        yield findingAt(
          [...path, 'timeouts', 'total'],
          `"total" expires before "response" (${response}); write more than that, or lower "response"`,
        );
      if (health !== undefined && health.timeoutMs > health.intervalMs)
        yield findingAt(
          [...path, 'health', 'timeout'],
          `the next health check starts (${entry.health?.interval}) before this one times out; write at most "interval"`,
        );
    }
    for (const { entry, route, path } of context.routes) {
      if (route.timeoutMs === undefined || route.timeoutMs > route.upstream.connectTimeoutMs) continue;
      const { connect } = context.manifest.upstreams[entry.upstream]?.timeouts ?? {};
      yield findingAt(
        [...path, 'timeout'],
        `this expires before "connect" of "${entry.upstream}" (${connect}); write more than that`,
      );
    }
  },
};
