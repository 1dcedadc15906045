import { clientKey } from '../../engine/gateway/fairness/client-key.ts';
import { Refusal } from '../../engine/gateway/response/refusal.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import {
  limitDefinition,
  type RateLimit,
  type RateLimitKeyKind,
  type RateLimitStage,
} from '../../engine/rate-limits/rate-limit.ts';
import type { LoggedRequest, LogLine } from '../access-log/logged-request.ts';
import type { ComparisonResult } from '../compare-outcomes.ts';
import type { OutcomeComparison } from '../comparison.ts';
import { UnknownFact } from '../outcome.ts';
import type { LoggedFacts } from './logged-facts.ts';

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

/** True if a list has a limit with an equal key: both share their counters. */
export function isIn({ key }: RateLimit, limits: readonly RateLimit[]): boolean {
  return limits.some((limit) => limit.key === key);
}

/** Applies the limits of a stage, whose decisions the log shows, to a logged request. Throws a `Refusal` or an `UnknownFact`. */
export function checkRateLimits(stage: RateLimitStage, route: Route, facts: LoggedFacts, use: LimitUse): void {
  for (const limit of route.rateLimits?.[stage] ?? []) use.reached.add(limit);
  const limits = (route.rateLimits?.[stage] ?? []).filter(({ mode }) => mode === 'enforce');
  if (limits.length === 0) return;
  const { request, logged } = facts;
  const result = facts.resultOf(stage);
  if (logged === undefined || result === undefined) throw new UnknownFact('rate-limit');
  const before = logged.route.rateLimits?.[stage] ?? [];
  const twins = limits.map((limit) => before.find((one) => isEqual(one, limit, logged.route.id === route.id)));
  if (result === 'refused') {
    // A limit that is not known can refuse the request only with the same code, unless its key is missing.
    const isDecided =
      limits.some(({ id }) => id === request.limit) &&
      limits.every(({ missing }, index) => twins[index] !== undefined || missing !== 'refuse');
    const refusing = twins.find((twin) => twin?.id === request.limit);
    if (!isDecided || refusing === undefined) throw new UnknownFact('rate-limit');
    use.relied.set(refusing, true);
    throw refusalOf(request.refusal, refusing);
  }
  for (const twin of twins) checkReported(twin, request, logged.route, use);
}

/** Applies a limit that only reported. @throws Refusal or UnknownFact */
function checkReported(twin: RateLimit | undefined, request: LoggedRequest, route: Route, use: LimitUse): void {
  if (twin === undefined) throw new UnknownFact('rate-limit');
  const code = REPORTED_CODES.find((reported) => request.reported.includes(reported));
  use.relied.set(twin, false);
  if (twin.mode === 'enforce' || code === undefined) return;
  const reporting = Object.values(route.rateLimits ?? {})
    .flat()
    .filter(({ mode }) => mode === 'report');
  // A refused request would not have counted as a failure.
  if (reporting.length > 1 || twin.failures !== undefined) throw new UnknownFact('rate-limit');
  use.relied.set(twin, true);
  throw refusalOf(code, twin);
}

const REPORTED_CODES = ['rate_limit_exceeded', 'rate_limit_key_missing', 'rate_limit_unavailable'] as const;

function refusalOf(code: string | undefined, { id }: RateLimit): Refusal {
  if (code === 'rate_limit_unavailable') throw new UnknownFact('no-decision');
  return new Refusal(code === 'rate_limit_key_missing' ? code : 'rate_limit_exceeded', { limit: id });
}

/** True if two limits count alike and allow the same. */
function isEqual(one: RateLimit, other: RateLimit, isSameRoute: boolean): boolean {
  if (other.kinds.includes('route') && !isSameRoute) return false;
  return rateOf(one) === rateOf(other);
}

function rateOf(limit: RateLimit): string {
  return limitDefinition({ ...limit, mode: 'enforce', reportUntil: undefined });
}
