import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';

/** The rate limits that a plan applies to a logged request. */
export class LimitUse {
  /** The limits that the request reaches. */
  readonly reached = new Set<RateLimit>();
  /** The limits whose logged decisions the outcome relies on: `true` if the limit refused the request. */
  readonly relied = new Map<RateLimit, boolean>();
}

/** The counters that a request changes in another way than it did, and those that its outcome relies on. */
export interface CounterEffects {
  /** Counters that count the request now and did not, or the other way round. */
  readonly more: readonly RateLimit[];
  readonly fewer: readonly RateLimit[];
  readonly reached: readonly RateLimit[];
  readonly relied: ReadonlyMap<RateLimit, boolean>;
}

interface CountingLimits {
  /** The limits that have counted the logged request. */
  readonly before: readonly RateLimit[];
  /** The limits of the new plan that count it, if its outcome is known; otherwise those that may count it. */
  readonly after: readonly RateLimit[];
  readonly isKnown: boolean;
  /** True if its outcome changes. A limit that counts failures counts it by its outcome. */
  readonly isChanged: boolean;
}

/** Returns the limits whose counters differ. Limits with equal keys share their counters. */
export function counterChanges({
  before,
  after,
  isKnown,
  isChanged,
}: CountingLimits): Pick<CounterEffects, 'more' | 'fewer'> {
  if (!isKnown) return { more: [...before, ...after], fewer: [...before, ...after] };
  const isUncertain = ({ failures }: RateLimit) => isChanged && failures !== undefined;
  return {
    more: [...after.filter((limit) => !isIn(limit, before)), ...before.filter(isUncertain)],
    fewer: [...before.filter((limit) => !isIn(limit, after)), ...after.filter(isUncertain)],
  };
}

function isIn({ key }: RateLimit, limits: readonly RateLimit[]): boolean {
  return limits.some((limit) => limit.key === key);
}
