import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import type { LintContext } from './lint-context.ts';

/** Returns the rate limits that routes use, in the order of the manifest. */
export function usedLimits({ plan, routes }: Pick<LintContext, 'plan' | 'routes'>): RateLimit[] {
  const used = new Set(routes.flatMap(({ entry }) => entry.rateLimits ?? []));
  return plan.rateLimits.filter(({ id }) => used.has(id));
}
