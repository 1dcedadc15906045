import { isLoopback } from '../../../engine/dns/loopback.ts';
import { usedLimits } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const rateLimitClient: Rule = {
  id: 'rate-limit-client',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Behind a proxy, all requests come from its address: without trusted proxies all clients share one counter, and a single one of them blocks the others.',
  *find(context) {
    const { plan } = context;
    if (isLoopback(plan.listen.host) || plan.server.trustedProxies !== undefined) return;
    const limit = usedLimits(context).find(({ kinds }) => kinds.includes('client'));
    if (limit !== undefined)
      yield findingAt(
        ['rateLimits', limit.id, 'key'],
        'behind a proxy, this key is the address of the proxy for all clients; list the proxies in server.trustedProxies',
        { related: { path: ['listen'], message: 'other machines reach this address' } },
      );
  },
};
