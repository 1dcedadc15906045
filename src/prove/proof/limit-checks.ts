import { getOrCreate } from '../../engine/get-or-create.ts';
import { nestValue } from '../../engine/json-pointer.ts';
import {
  changedLimit,
  changedSettings,
  type DiffLimit,
  type LimitPair,
  limitsOf,
  renamedLimits,
} from '../diff/comparisons/rate-limit-comparisons.ts';
import type { DiffContext, DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, matchedRoutes } from '../diff/matched-routes.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { type Direction, directionOf, type ProofFinding } from './directions.ts';
import type { Attempt } from './offline-side.ts';
import { validToken } from './token-requests.ts';

type Pairs = readonly MatchedRoutePair[];

/** The pairs whose requests are tried. Thousands of routes may have a limit, and an attempt sends as many requests as it allows. */
const MAX_PAIRS = 5;

/** Yields the changes of rate limits, each once for all pairs that it counts. */
export function* changedLimits(sides: DiffContext): Generator<ProofFinding> {
  const [before, now] = [limitsOf(sides.old), limitsOf(sides.next)];
  const successors = successorsOf(before, now, sides);
  const [kept, removed, added] = [
    new Map<string, MatchedRoutePair[]>(),
    new Map<string, MatchedRoutePair[]>(),
    new Map<string, MatchedRoutePair[]>(),
  ];
  for (const pair of matchedRoutes(sides)) {
    const others = new Set(pair.to.entry.rateLimits);
    for (const id of pair.from.entry.rateLimits ?? []) {
      const isKept = others.delete(successors.get(id)?.id ?? '');
      getOrCreate(isKept ? kept : removed, id, () => []).push(pair);
    }
    for (const id of others) getOrCreate(added, id, () => []).push(pair);
  }
  for (const [id, pairs] of removed)
    yield found(pairs, 'rate-limit-removed', `no longer has the rate limit "${id}"`, before.get(id));
  for (const [id, pairs] of added) yield found(pairs, 'rate-limit-added', `has a new rate limit: "${id}"`, now.get(id));
  for (const [id, pairs] of kept) {
    const limits = successors.get(id);
    if (limits === undefined) continue;
    yield* changesOf(limits, pairs, sides);
    yield* dividedCounts(limits, pairs);
  }
}

/** Returns the finding of a limit at the first of the routes that have the same change. */
function found(
  pairs: Pairs,
  rule: string,
  message: string,
  strict: DiffLimit | undefined,
  loose?: DiffLimit,
): ProofFinding {
  const [pair] = pairs as [MatchedRoutePair];
  const others = new Set(pairs.map(({ to }) => to)).size - 1;
  return {
    ...findingAtKey(pair, rule, 'rateLimits', others === 0 ? message : `${message}, like ${others} more`),
    direction: directionIn(rule, strict),
    attempts: () => attemptsOf(pairs, strict, loose),
  };
}

function attemptsOf(pairs: Pairs, strict: DiffLimit | undefined, loose: DiffLimit | undefined): readonly Attempt[] {
  if (strict === undefined) return [];
  return pairs.slice(0, MAX_PAIRS).flatMap((pair) => limitAttempts(pair, strict, loose, pairs));
}

/** Returns the direction of a change. An old limit that only reported refused no request. */
function directionIn(rule: string, old: DiffLimit | undefined): Direction {
  const direction = directionOf(rule);
  return direction === 'looser' && old?.limit.mode === 'report' ? 'other' : direction;
}

function* changesOf(limits: LimitPair, pairs: Pairs, sides: DiffContext): Generator<ProofFinding> {
  const { old, next } = limits;
  for (const change of [...changedLimit(limits, true), ...changedLimit(limits, false), ...changedSettings(limits)]) {
    const isStricter = change.rule === 'rate-limit-key' && countsMore(old, next, sides);
    const direction = isStricter ? 'stricter' : directionIn(change.rule, old);
    const attempts = () => (direction === 'stricter' ? attemptsOf(pairs, next, old) : attemptsOf(pairs, old, next));
    const [pair] = pairs as [MatchedRoutePair];
    yield { ...change, pair, direction, attempts };
  }
}

/** Yields the routes that were divided, so that a limit by route counts their requests apart. */
function* dividedCounts({ old, next }: LimitPair, pairs: Pairs): Generator<ProofFinding> {
  if (![old, next].every(({ limit }) => limit.kinds.includes('route'))) return;
  for (const [{ route }, group] of Map.groupBy(pairs, ({ from }) => from)) {
    const others = group.filter(({ to }) => to.route.id !== route.id);
    const message = `counts by route, and no longer with other requests of "${route.id}": the rate limit "${next.limit.id}"`;
    if (new Set(group.map(({ to }) => to)).size > 1 && others.length > 0)
      yield found(group, 'rate-limit-key', message, old, next);
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

/** The most requests that show a rate limit. */
const MAX_TIMES = 3_000;

/**
 * Returns the ways to send a request until only one of two limits refuses it.
 *
 * @param pairs the pairs whose requests the limits count
 */
function limitAttempts(
  pair: MatchedRoutePair,
  { limit: strict, keyParts }: DiffLimit,
  loose?: DiffLimit,
  pairs: readonly MatchedRoutePair[] = [],
): readonly Attempt[] {
  const added = (loose?.keyParts ?? []).filter((part) => !keyParts.includes(part));
  // All requests have the address of one client, unless only the loose limit counts by it.
  const parts = [...keyParts.filter((part) => !part.startsWith('{"client"')), ...added];
  const withKey = (request: DiffRequest) => parts.reduce((one, part) => withValue(one, part, 'a', pair), request);
  const valid = forwardedWitness(pair)?.request;
  if (strict.burst >= MAX_TIMES || valid === undefined) return [];
  const request = withKey(valid);
  const isTogether = ({ from, to }: MatchedRoutePair) =>
    to !== pair.to && (from === pair.from || !keyParts.includes(ROUTE_PART));
  const others = loose?.keyParts.includes(ROUTE_PART) ? pairs.filter(isTogether).slice(0, 1) : [];
  const firsts = [
    ...others.flatMap((other) => forwardedWitness(other)?.request ?? []).map(withKey),
    ...added.flatMap((part) => ['b', 'A'].map((value) => withValue(request, part, value, pair))),
  ];
  const status = [...(strict.failures ?? [])].find((one) => loose?.limit.failures?.has(one) !== true);
  const response = status === undefined ? {} : { response: { status, headers: [], body: Buffer.alloc(0) } };
  const after = (waitMs: number) => ({ request, repetition: { times: strict.burst + 1, waitMs }, ...response });
  const waits = loose === undefined ? [0] : [0, loose.limit.intervalMs];
  // A request without the key needs no repetition.
  return [{ request: valid }, ...firsts.map((first) => ({ ...after(0), first })), ...waits.map(after)];
}

const ROUTE_PART = JSON.stringify({ route: true });

/** Returns a request with a value for a part of a key, one of two letters. */
function withValue(request: DiffRequest, part: string, value: string, pair: MatchedRoutePair): DiffRequest {
  const { header, subject, claim = subject && '/sub', client } = JSON.parse(part);
  if (header !== undefined) {
    const headers = request.headers ?? [];
    const index = headers.indexOf(header);
    const rest = index === -1 ? headers : headers.toSpliced(index, 2);
    return { ...request, headers: [...rest, header, value] };
  }
  // Addresses with equal prefixes up to 56 bits.
  if (client !== undefined) return { ...request, peer: value === 'a' ? '2001:db8::1' : '2001:db8:0:1::1' };
  if (request.role === undefined || claim === undefined) return request;
  const token = request.token ?? validToken(pair, request);
  return token === undefined ? request : { ...request, token: { ...token, ...(nestValue(claim, value) as object) } };
}
