import {
  changedLimit,
  changedSettings,
  type DiffLimit,
  type LimitPair,
  limitsOf,
  renamedLimits,
} from '../diff/comparisons/rate-limit-comparisons.ts';
import type { DiffContext, DiffFinding, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, matchedRoutes } from '../diff/matched-routes.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import type { Direction, PairCheck, ProofFinding } from './directions.ts';
import { overLimit, ROUTE_PART } from './limit-requests.ts';

/** A rate limit of the old manifest, the same one of the new manifest, and its changes. */
interface LimitChange extends LimitPair {
  readonly looser: readonly DiffFinding[];
  readonly stricter: readonly DiffFinding[];
}

/** Returns the comparison of the rate limits of a pair. */
export function createLimitCheck(sides: DiffContext): PairCheck {
  const [before, now] = [limitsOf(sides.old), limitsOf(sides.next)];
  const pairs = [...matchedRoutes(sides)];
  const pairsByRoute = Map.groupBy(pairs, ({ from }) => from);
  const changes = limitChanges(sides);
  return function* changedLimits(pair) {
    const added = new Set(pair.to.entry.rateLimits);
    for (const id of pair.from.entry.rateLimits ?? []) {
      const [limit, change] = [before.get(id), changes.get(id)];
      if (change !== undefined && added.delete(change.id)) yield* changesOf(pair, id, change);
      else if (limit !== undefined)
        yield {
          ...found(pair, 'rate-limit-removed', effectOf(limit), `no longer has the rate limit "${id}"`),
          ...overLimit(pair, limit),
        };
    }
    for (const id of added) {
      const limit = now.get(id);
      const finding = found(pair, 'rate-limit-added', 'stricter', `has a new rate limit: "${id}"`);
      yield { ...finding, ...(limit && overLimit(pair, limit)) };
    }
  };

  function* changesOf(pair: MatchedRoutePair, id: string, change: LimitChange): Generator<ProofFinding> {
    const { old, next, looser, stricter } = change;
    for (const { rule, message, path } of looser) {
      const finding = found(pair, rule, effectOf(old), `has a looser rate limit: ${message}`);
      // A request without the key needs no repetition.
      if (path.at(-1) === 'missing') yield { ...finding, witness: forwardedWitness(pair) };
      else yield { ...finding, ...overLimit(pair, old, next, otherPair(pair, id, change)) };
    }
    for (const { rule, message } of stricter)
      yield { ...found(pair, rule, 'stricter', `has another rate limit: ${message}`), ...overLimit(pair, next, old) };
    if (!old.limit.kinds.includes('route') || pair.from.route.id === pair.to.route.id) return;
    const other = otherPair(pair, id, change);
    const message = `counts by route, and no longer with other requests of "${pair.from.route.id}": the rate limit "${id}"`;
    if (other !== undefined)
      yield { ...found(pair, 'rate-limit-key', effectOf(old), message), ...overLimit(pair, old, next, other) };
  }

  /** Returns a pair that the old limit counts together with another one, and the new limit apart from it, by its route. */
  function otherPair({ from, to }: MatchedRoutePair, id: string, { id: nextId, old, next }: LimitChange) {
    if (!next.limit.kinds.includes('route')) return undefined;
    const counted = old.limit.kinds.includes('route') ? pairsByRoute.get(from) : pairs;
    return counted?.find(
      (one) => one.to !== to && one.from.entry.rateLimits?.includes(id) && one.to.entry.rateLimits?.includes(nextId),
    );
  }
}

function found(pair: MatchedRoutePair, rule: string, direction: Direction, message: string): ProofFinding {
  return { ...findingAtKey(pair, rule, 'rateLimits', message), direction };
}

/** Returns the direction of a looser limit. One that only reports refuses no request. */
function effectOf({ limit }: DiffLimit): Direction {
  return limit.mode === 'enforce' ? 'looser' : 'other';
}

function limitChanges(sides: DiffContext): ReadonlyMap<string, LimitChange> {
  const names = renamedLimits(sides);
  const limits = limitsOf(sides.next);
  return new Map(
    [...limitsOf(sides.old)].flatMap(([oldId, old]): [string, LimitChange][] => {
      const id = names.get(oldId) ?? replacementOf(oldId, old, sides) ?? oldId;
      const next = limits.get(id);
      if (next === undefined) return [];
      const settings = [...changedSettings({ id, old, next })];
      const isLooser = ({ rule }: DiffFinding) =>
        rule === 'rate-limit-reported' || (rule === 'rate-limit-key' && !countsMore(oldId, old, next, sides));
      const looser = [...changedLimit({ id, old, next }, true), ...settings.filter(isLooser)];
      const stricter = [...changedLimit({ id, old, next }, false), ...settings.filter((one) => !isLooser(one))];
      return [[oldId, { id, old, next, looser, stricter }]];
    }),
  );
}

/** True if a limit counts all requests together that it counted together before: its key has no part that is new. */
function countsMore(id: string, old: DiffLimit, next: DiffLimit, sides: DiffContext): boolean {
  const routes = sides.old.routes.filter(({ entry }) => entry.rateLimits?.includes(id));
  const isOfOneRoute = (part: string) => part === ROUTE_PART && routes.length === 1;
  return next.keyParts.every((part) => old.keyParts.includes(part) || isOfOneRoute(part));
}

/** Returns another limit with all requests of an old one, if it is at least as strict. */
function replacementOf(id: string, old: DiffLimit, sides: DiffContext): string | undefined {
  const lists = sides.pairs
    .filter(({ from }) => from?.entry.rateLimits?.includes(id))
    .map(({ to }) => to?.entry.rateLimits ?? []);
  if (lists.length === 0 || lists.every((list) => list.includes(id))) return undefined;
  return [...limitsOf(sides.next)].find(([other, next]) => {
    const isLooser = changedLimit({ id: other, old, next }, true).next().done === false || next.limit.mode === 'report';
    return lists.every((list) => list.includes(other)) && !isLooser && countsMore(id, old, next, sides);
  })?.[0];
}
