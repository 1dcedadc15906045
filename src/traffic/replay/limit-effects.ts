import { clientKey } from '../../engine/gateway/fairness/client-key.ts';
import type { RateLimit, RateLimitKeyKind } from '../../engine/rate-limits/rate-limit.ts';
import type { LoggedRequest, LogLine } from '../access-log/logged-request.ts';
import type { ComparisonResult } from '../compare-outcomes.ts';
import type { OutcomeComparison } from '../comparison.ts';

/** Requests with one result that rely on the same counters. */
interface HeldResult {
  readonly result: ComparisonResult;
  readonly relied: readonly ReliedCounter[];
  readonly reached: readonly string[];
  readonly caller: string | undefined;
  readonly witness: LogLine;
  weight: number;
  isUncertain: boolean;
}

interface ReliedCounter {
  readonly limit: string;
  readonly counter: string;
  readonly isRefused: boolean;
}

/** Beyond this number of counters, the replay no longer distinguishes the callers of a limit. */
const MAX_HELD = 200_000;
const UNCERTAIN: ComparisonResult = { result: 'unknown', reason: 'rate-limit' };

/**
 * Holds the results that rely on the counters of rate limits until the end of the log. If the new plan counts more or fewer requests,
 * the later decisions of such a counter are not known. A counter of a limit belongs to one caller or to all of them.
 */
export class LimitEffects {
  readonly #held = new Map<string, HeldResult>();
  /** Counters, and ids of limits of which any counter may be affected. */
  readonly #more = new Set<string>();
  readonly #fewer = new Set<string>();

  /** Marks the counters that a request changes. */
  mark({ more, fewer }: CounterEffects, request: LoggedRequest): void {
    for (const limit of more) this.#add(this.#more, counterOf(limit, request));
    for (const limit of fewer) this.#add(this.#fewer, counterOf(limit, request));
  }

  hold(
    result: ComparisonResult,
    { relied, reached }: CounterEffects,
    request: LoggedRequest,
    caller: string | undefined,
  ): void {
    const isFull = this.#held.size >= MAX_HELD;
    const nameOf = (limit: RateLimit) => (isFull ? limit.key : counterOf(limit, request));
    const counters = [...relied].map(([limit, isRefused]) => ({ limit: limit.key, counter: nameOf(limit), isRefused }));
    // Only changed requests have distinct callers in the report.
    const named = result.result === 'changed' && !isFull ? caller : undefined;
    const key = JSON.stringify([counters, named, result]);
    const held = this.#held.get(key);
    if (held !== undefined) held.weight += request.weight;
    else {
      const { source, line, weight } = request;
      const common = { result, relied: counters, reached: [...reached].map(nameOf), caller };
      this.#held.set(key, { ...common, witness: { source, line }, weight, isUncertain: false });
    }
  }

  /** Adds all results to a comparison. Those that rely on an affected counter are unknown. */
  release(comparison: OutcomeComparison<LogLine>): void {
    while (this.#spread());
    for (const { result, weight, caller, witness, isUncertain } of this.#held.values())
      comparison.add(
        isUncertain ? UNCERTAIN : result,
        weight,
        () => caller,
        () => witness,
      );
  }

  /** Marks the counters of the requests whose decisions are not known. Returns false if there are no further ones. */
  #spread(): boolean {
    let hasSpread = false;
    for (const held of this.#held.values()) {
      if (held.isUncertain || !held.relied.some((relied) => this.#isAffected(relied))) continue;
      held.isUncertain = true;
      hasSpread = true;
      for (const counter of held.reached) {
        this.#add(this.#more, counter);
        this.#add(this.#fewer, counter);
      }
    }
    return hasSpread;
  }

  /** A counter with more requests may refuse one that it let through, and one with fewer may let through one that it refused. */
  #isAffected({ limit, counter, isRefused }: ReliedCounter): boolean {
    const affected = isRefused ? this.#fewer : this.#more;
    // The counter of all callers is affected with that of any caller.
    return affected.has(counter) || affected.has(limit) || (counter === limit && affected.has(anyOf(limit)));
  }

  #add(affected: Set<string>, counter: string): void {
    const [limit = ''] = counter.split(SEPARATOR);
    affected.add(affected.size < MAX_HELD ? counter : limit);
    affected.add(anyOf(limit));
  }
}

const SEPARATOR = '\n';

/** Stands for some counter of a limit. */
function anyOf(limit: string): string {
  return `${limit}${SEPARATOR}*`;
}

/** Returns a text that is equal for requests that one counter counts; the key of the limit if the log does not show it. */
function counterOf({ key, kinds }: RateLimit, { client, subject, route, credential }: LoggedRequest): string {
  // The networks of such a key may be wider.
  const isNetwork = client?.includes(':') === true && key.includes('ipv6Prefix');
  const address = client === undefined || isNetwork ? undefined : clientKey(client);
  // A token that was not verified may be that of any caller.
  const caller = subject ?? (credential === 'bearer' ? undefined : address);
  const values: Partial<Record<RateLimitKeyKind, string | undefined>> = { client: address, subject: caller, route };
  const parts = kinds.map((kind) => values[kind]);
  return parts.includes(undefined) ? key : [key, ...parts].join(SEPARATOR);
}

/** The rate limits that a plan applies to a logged request. */
export class LimitUse {
  /** The limits that the request reaches. */
  readonly reached = new Set<RateLimit>();
  /** The limits whose logged decisions the outcome relies on: `true` if the limit refused the request. */
  readonly relied = new Map<RateLimit, boolean>();
}

/** The counters that a request changes in another way than it did, and those that its outcome relies on. */
export interface CounterEffects extends LimitUse {
  /** Counters that count the request now and did not, or the other way round. */
  readonly more: readonly RateLimit[];
  readonly fewer: readonly RateLimit[];
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
export function counterChanges({ before, after, isKnown, isChanged }: CountingLimits) {
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
