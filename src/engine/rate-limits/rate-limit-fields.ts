import type { RateLimit } from './rate-limit.ts';
import type { AppliedLimit } from './rate-limiter.ts';
import { wholeSeconds } from './whole-seconds.ts';

/**
 * Returns the `RateLimit-Policy` and `RateLimit` fields of a response (draft-ietf-httpapi-ratelimit-headers-11). Limits of
 * failures are not in them: a guesser could read how many guesses remain. A refused request gets the policies only, which are the same
 * for every request to the route, so that nobody learns which limit refused it.
 *
 * @param limits all limits of the route
 * @param applied those that have counted the request
 */
export function rateLimitFields(
  limits: readonly RateLimit[],
  applied: readonly AppliedLimit[],
  isRefused: boolean,
): string[] {
  const policies = limits.filter(isShown);
  if (policies.length === 0) return [];
  const fields = ['RateLimit-Policy', policies.map(policyItem).join(', ')];
  const shown = applied.filter(({ limit }) => isShown(limit));
  return isRefused || shown.length === 0 ? fields : [...fields, 'RateLimit', shown.map(limitItem).join(', ')];
}

function isShown({ failures, mode }: RateLimit): boolean {
  return failures === undefined && mode === 'enforce';
}

/** The quota is that of the window. A burst is not: `1 per 1s` with a burst of 100 allows no 100 requests every second. */
function policyItem({ id, requests, periodMs }: RateLimit): string {
  return `"${id}";q=${requests};w=${wholeSeconds(periodMs)}`;
}

function limitItem({ limit, counted }: AppliedLimit): string {
  return `"${limit.id}";r=${counted.remaining};t=${wholeSeconds(counted.resetMs)}`;
}
