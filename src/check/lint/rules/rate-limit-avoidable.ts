import type { RateLimit, RateLimitKeyKind } from '../../../engine/rate-limits/rate-limit.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const rateLimitAvoidable: Rule = {
  id: 'rate-limit-avoidable',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Clients choose headers and bodies: a client that sends another value with each request, or none, is never over a limit that counts by it.',
  *find({ routes }) {
    for (const { entry, route, path } of routes) {
      const limits = Object.values(route.rateLimits ?? {}).flat();
      if (limits.length === 0 || !limits.every(isChosenByClient)) continue;
      const key = entry.access === 'protected' ? 'subject' : 'client';
      const isSkipped = entry.validation === 'report' && limits.every(({ missing }) => missing === 'skip');
      const message = isSkipped
        ? `a body that violates the schema is forwarded without its key, so nothing limits it; write missing: refuse, and add a limit with key: ${key}`
        : `a client that sends other values with each request is never limited here; add a limit with key: ${key}`;
      yield findingAtKey([...path, 'rateLimits'], message);
    }
  },
};

const CHOSEN = new Set<RateLimitKeyKind>(['header', 'body']);

/** True if a part of the key is a value that clients choose. The route of a request adds nothing to it. */
function isChosenByClient({ kinds }: RateLimit): boolean {
  return kinds.some((kind) => CHOSEN.has(kind));
}
