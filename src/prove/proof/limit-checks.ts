import { getOrCreate } from '../../engine/get-or-create.ts';
import {
  changedLimit,
  changedSettings,
  type DiffLimit,
  type LimitPair,
  limitsOf,
  renamedLimits,
} from '../diff/comparisons/rate-limit-comparisons.ts';
import type { DiffContext, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, matchedRoutes } from '../diff/matched-routes.ts';
import { type Direction, directionOf, type ProofFinding } from './directions.ts';
import { limitAttempts, ROUTE_PART } from './limit-attempts.ts';

/** Yields the changes of the rate limits of each pair. */
export function* changedLimits(sides: DiffContext): Generator<ProofFinding> {
  const [before, now] = [limitsOf(sides.old), limitsOf(sides.next)];
  const successors = successorsOf(before, now, sides);
  const kept = new Map<LimitPair, MatchedRoutePair[]>();
  for (const pair of matchedRoutes(sides)) {
    const added = new Set(pair.to.entry.rateLimits);
    for (const id of pair.from.entry.rateLimits ?? []) {
      const successor = successors.get(id);
      if (successor !== undefined && added.delete(successor.id)) getOrCreate(kept, successor, () => []).push(pair);
      else yield found(pair, 'rate-limit-removed', `no longer has the rate limit "${id}"`, before.get(id));
    }
    for (const id of added) yield found(pair, 'rate-limit-added', `has a new rate limit: "${id}"`, now.get(id));
  }
  for (const [limits, pairs] of kept) {
    yield* changesOf(limits, pairs, sides);
    yield* dividedCounts(limits, pairs);
  }
}

/** Returns the finding of a limit that only one manifest has. */
function found(pair: MatchedRoutePair, rule: string, message: string, limit: DiffLimit | undefined): ProofFinding {
  return {
    ...findingAtKey(pair, rule, 'rateLimits', message),
    direction: directionIn(rule, limit),
    attempts: () => (limit === undefined ? [] : limitAttempts(pair, limit)),
  };
}

/** Returns the direction of a change. An old limit that only reported refused no request. */
function directionIn(rule: string, old: DiffLimit | undefined): Direction {
  const direction = directionOf(rule);
  return direction === 'looser' && old?.limit.mode === 'report' ? 'other' : direction;
}

function* changesOf(
  limits: LimitPair,
  pairs: readonly MatchedRoutePair[],
  sides: DiffContext,
): Generator<ProofFinding> {
  const { old, next } = limits;
  for (const change of [...changedLimit(limits, true), ...changedLimit(limits, false), ...changedSettings(limits)]) {
    const isStricter = change.rule === 'rate-limit-key' && countsMore(old, next, sides);
    const direction = isStricter ? 'stricter' : directionIn(change.rule, old);
    for (const pair of pairs) {
      const attempts = () =>
        direction === 'stricter' ? limitAttempts(pair, next, old, pairs) : limitAttempts(pair, old, next, pairs);
      yield { ...change, pair, direction, attempts };
    }
  }
}

/** Yields the pairs whose requests a limit by route counts apart, and counted together: their route was divided. */
function* dividedCounts({ old, next }: LimitPair, pairs: readonly MatchedRoutePair[]): Generator<ProofFinding> {
  if (![old, next].every(({ limit }) => limit.kinds.includes('route'))) return;
  for (const [{ route }, group] of Map.groupBy(pairs, ({ from }) => from)) {
    const message = `counts by route, and no longer with other requests of "${route.id}": the rate limit "${next.limit.id}"`;
    if (new Set(group.map(({ to }) => to)).size === 1) continue;
    for (const pair of group)
      if (pair.to.route.id !== route.id)
        yield {
          ...found(pair, 'rate-limit-key', message, old),
          attempts: () => limitAttempts(pair, old, next, group),
        };
  }
}

/** Returns the limit of the new manifest that stands for each old one, by the id of the old one. */
function successorsOf(
  before: ReadonlyMap<string, DiffLimit>,
  now: ReadonlyMap<string, DiffLimit>,
  sides: DiffContext,
): ReadonlyMap<string, LimitPair> {
  const names = renamedLimits(sides);
  return new Map(
    [...before].flatMap(([oldId, old]): [string, LimitPair][] => {
      const id = names.get(oldId) ?? replacementOf(old, now, sides) ?? oldId;
      const next = now.get(id);
      return next === undefined ? [] : [[oldId, { id, old, next }]];
    }),
  );
}

/** Returns another limit with all requests of an old one, if it is at least as strict. */
function replacementOf(old: DiffLimit, now: ReadonlyMap<string, DiffLimit>, sides: DiffContext): string | undefined {
  const { id } = old.limit;
  const lists = [...matchedRoutes(sides)].flatMap(({ from, to }) =>
    from.entry.rateLimits?.includes(id) ? [to.entry.rateLimits ?? []] : [],
  );
  if (lists.length === 0 || lists.every((list) => list.includes(id))) return undefined;
  return [...now].find(([other, next]) => {
    const isLooser = changedLimit({ id, old, next }, true).next().done === false || next.limit.mode === 'report';
    return lists.every((list) => list.includes(other)) && !isLooser && countsMore(old, next, sides);
  })?.[0];
}

/** True if a limit counts all requests together that it counted together before: its key has no part that is new. */
function countsMore(old: DiffLimit, next: DiffLimit, sides: DiffContext): boolean {
  const routes = sides.old.routes.filter(({ entry }) => entry.rateLimits?.includes(old.limit.id));
  const isOfOneRoute = (part: string) => part === ROUTE_PART && routes.length === 1;
  return next.keyParts.every((part) => old.keyParts.includes(part) || isOfOneRoute(part));
}
