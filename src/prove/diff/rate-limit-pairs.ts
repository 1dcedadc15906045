import type { RateLimit as RateLimitEntry, RateLimitKeyPart } from '../../engine/manifest/manifest.generated.ts';
import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import type { DiffContext } from './difference.ts';
import { matchedRoutes } from './matched-routes.ts';
import { commonValues, type PairById, renamedIds } from './pairs-by-id.ts';
import type { DiffRoute, DiffSide } from './side.ts';

/** A rate limit of one side, as written and as compiled. */
export interface DiffLimit {
  readonly limit: RateLimit;
  /** Equal for keys that count the same requests together. */
  readonly keyEffect: string;
  /** The entry with references to the environment instead of their values, safe to print. */
  readonly entry: RateLimitEntry;
}

export type LimitPair = PairById<DiffLimit>;

/** Yields the rate limits that both manifests have. */
export function commonLimits({ old, next }: DiffContext): Iterable<LimitPair> {
  return commonValues(limitsOf(old), limitsOf(next));
}

/** Returns the rate limits of a side, by id. */
export function limitsOf({ plan, manifest, redacted }: DiffSide): ReadonlyMap<string, DiffLimit> {
  return new Map(
    plan.rateLimits.map((limit) => {
      const entry = redacted.rateLimits[limit.id] as RateLimitEntry;
      return [limit.id, { limit, entry, keyEffect: keyEffectOf(manifest.rateLimits[limit.id] as RateLimitEntry) }];
    }),
  );
}

/** Returns the new id of each limit of the old manifest that has only another name in the new one. */
export function renamedLimits({ old, next }: DiffContext): ReadonlyMap<string, string> {
  return renamedIds(limitsOf(old), limitsOf(next), effectOf);
}

/** The routes that lost a limit, or got one, by the id of the limit. */
export type RoutesByLimit = ReadonlyMap<string, readonly DiffRoute[]>;

/** Returns the routes whose requests a limit of the old manifest no longer counts, and those that a new one counts. */
export function changedRouteLimits(sides: DiffContext): {
  readonly lost: RoutesByLimit;
  readonly added: RoutesByLimit;
} {
  const names = renamedLimits(sides);
  const lost = new Map<string, Set<DiffRoute>>();
  const added = new Map<string, Set<DiffRoute>>();
  for (const { from, to } of matchedRoutes(sides)) {
    const before = new Set((from.entry.rateLimits ?? []).map((id) => names.get(id) ?? id));
    const now = new Set(to.entry.rateLimits);
    for (const id of before) if (!now.has(id)) lost.set(id, (lost.get(id) ?? new Set()).add(to));
    for (const id of now) if (!before.has(id)) added.set(id, (added.get(id) ?? new Set()).add(to));
  }
  return { lost: inOrder(lost), added: inOrder(added) };
}

function inOrder(routes: ReadonlyMap<string, ReadonlySet<DiffRoute>>): RoutesByLimit {
  const byPlace = (a: DiffRoute, b: DiffRoute) => Number(a.path[1]) - Number(b.path[1]);
  return new Map([...routes].map(([id, set]) => [id, [...set].sort(byPlace)]));
}

function effectOf({ limit, keyEffect }: DiffLimit): string {
  const { missing, burst, intervalMs, failures, mode, store } = limit;
  const statuses = failures && [...failures].sort();
  return JSON.stringify([keyEffect, missing, burst, intervalMs, statuses, mode, store?.id]);
}

function keyEffectOf({ key }: RateLimitEntry): string {
  const parts = [key].flat().map((part) => (typeof part === 'string' ? { [part]: true } : partEffect(part)));
  return parts
    .map((part) => JSON.stringify(part))
    .sort()
    .join();
}

/** The prefix length of `client` without a map. */
const DEFAULT_IPV6_PREFIX = 64;

function partEffect({ header, client, body, claim, fold }: RateLimitKeyPart): object {
  if (client?.ipv6Prefix === DEFAULT_IPV6_PREFIX) return { client: true };
  return { body, claim, fold, client: client?.ipv6Prefix, header: header?.toLowerCase() };
}
