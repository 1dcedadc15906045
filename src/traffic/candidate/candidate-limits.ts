import type { Exchange, RoutedExchange } from '../../engine/gateway/exchange.ts';
import { type CountedEnd, isReleased, type RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import { type LimitedExchange, RateLimiter } from '../../engine/rate-limits/rate-limiter.ts';
import { sharedNow, type WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import { type Outcome, UnknownFact, UPSTREAM_REFUSALS } from '../outcome.ts';
import type { PlanPair } from './plan-pair.ts';
import type { SharedComparison } from './shared-comparison.ts';

/** A request that the candidate counts, and the exchange in which the active plan has counted it. */
export interface CountedCandidate extends LimitedExchange {
  readonly exchange: Exchange;
}

export type CandidateLimits = ReturnType<typeof createCandidateLimits>;

/** Returns the candidate's limits, with counters that all workers share and that begin with it. Only the active plan counts in a store. */
export function createCandidateLimits(pair: PlanPair, worker: WorkerContext, shared: SharedComparison, sample: number) {
  const { active, candidate } = pair;
  const limiter = new RateLimiter(sharedNow, worker);
  limiter.activate(candidate.rateLimits);
  return {
    /** Records the limits of the active plan that have counted requests before: an activation of the candidate would keep those counts. */
    recordHistory: ({ tables }: Pick<RateLimiter['local'], 'tables'>): void => {
      const hadRequests = candidate.rateLimits.map(({ key }) => (tables.get(key)?.size ?? 0) > 0);
      shared.recordHistory(hadRequests, sharedNow());
    },
    /** Counts a request by the limits that may refuse it. @throws Refusal; UnknownFact */
    apply: (limits: readonly RateLimit[], request: CountedCandidate): void => {
      // Otherwise some requests were not compared, and so not counted.
      const isEachCounted = sample === 1 && shared.hasAllRequests;
      const enforced = limits.filter(({ mode }) => mode === 'enforce');
      const isCountable = (limit: RateLimit) => isEachCounted && limit.store === undefined;
      // Nothing counts a request without a value, so its result needs no counter.
      const counted = enforced.filter((limit) => isCountable(limit) || typeof limit.readValue(request) !== 'string');
      // Never a promise, because this limiter is connected to no store.
      void limiter.apply(counted, request);
      for (const limit of enforced) if (!counted.includes(limit)) applyActiveResult(limit, request);
      if (counted.some((limit) => lacksHistory(limit, request.exchange))) throw new UnknownFact('rate-limit');
    },
    /** Ends the counting of the requests of a worker that has ended. They remain counted. */
    forgetWorker: (index: number): void => limiter.local.forgetWorker(index),
    /** Ends the counting of a request. */
    settle: ({ appliedLimits = [], exchange }: CountedCandidate, to: Outcome): void => {
      if (appliedLimits.length === 0) return;
      const end = endOf(exchange, to);
      limiter.settle(appliedLimits, (limit) => isReleased(limit, end));
    },
  };

  /** Applies the result of the active plan. @throws Refusal; UnknownFact if the active plan has not counted the request alike */
  function applyActiveResult(limit: RateLimit, request: CountedCandidate): void {
    const { exchange } = request;
    const { route, refusal, appliedLimits } = exchange;
    const value = limit.readValue(request);
    const isSameCounter =
      pair.hasEqualLimit(limit) && route !== undefined && limit.readValue(exchange as RoutedExchange) === value;
    if (isSameCounter && refusal?.limit === limit.id) throw refusal;
    const wasCounted = appliedLimits?.some((applied) => applied.limit.id === limit.id) === true;
    if (!isSameCounter || !wasCounted) throw new UnknownFact('rate-limit');
  }

  /** True if the active plan has refused the request because of requests that came before the candidate. */
  function lacksHistory({ key, burst, intervalMs }: RateLimit, { refusal }: Exchange): boolean {
    if (refusal?.code !== 'rate_limit_exceeded') return false;
    const index = candidate.rateLimits.findIndex((other) => other.key === key);
    if (!shared.mayHaveEarlier(index, sharedNow() - burst * intervalMs)) return false;
    return active.rateLimits.some((other) => other.id === refusal.limit && other.key === key);
  }
}

/** Returns the end that a request would have by the candidate. Without the response of the upstream, it is no failure. */
function endOf({ forwarding, refusal, response }: Exchange, to: Outcome): CountedEnd {
  if (to.kind === 'refused')
    return { wasSent: to.code === 'login_response_refused', status: to.status, refusal: to.code };
  const wasSent = forwarding?.wasSent === true;
  const status = wasSent && response.hasBegun ? response.status : undefined;
  const isUpstreamError = refusal !== undefined && UPSTREAM_REFUSALS.has(refusal.code);
  return { wasSent, status, refusal: isUpstreamError ? refusal.code : undefined };
}
