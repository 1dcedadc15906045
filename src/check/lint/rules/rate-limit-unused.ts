import { usedLimits } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const rateLimitUnused: Rule = {
  id: 'rate-limit-unused',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'A rate limit without routes limits nothing: a route that needs it lacks it, or the limit is obsolete.',
  *find(context) {
    const used = new Set(usedLimits(context));
    for (const limit of context.plan.rateLimits)
      if (!used.has(limit))
        yield findingAtKey(
          ['rateLimits', limit.id],
          `no route uses the rate limit "${limit.id}"; add it to the rateLimits of a route, or remove it`,
        );
  },
};
