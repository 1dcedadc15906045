import { isDeepStrictEqual } from 'node:util';
import { getOrCreate } from '../../engine/get-or-create.ts';
import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import {
  changedLimit,
  changedSettings,
  type LimitPair,
  limitsOf,
  renamedLimits,
} from '../diff/comparisons/rate-limit-comparisons.ts';
import { rolesOfPair } from '../diff/comparisons/route-comparisons.ts';
import { changedIssuers, pairMethods } from '../diff/comparisons/token-comparisons.ts';
import { changedPath, effectOf } from '../diff/comparisons/upstream-comparisons.ts';
import type { DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, requestWitness } from '../diff/matched-routes.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { type Direction, directionOf } from './directions.ts';
import type { SendOptions } from './offline-side.ts';

/** A difference of two routes that receive the same requests, or of the settings. */
export interface ProofFinding extends DiffFinding {
  readonly direction: Direction;
  /** The ways to send the request of the witness, one of which shows the difference. */
  readonly sendings?: readonly SendOptions[];
}

/** Compares what the routes of a pair require. */
type PairCheck = (pair: MatchedRoutePair) => Iterable<ProofFinding>;

/** Returns the comparisons of pairs that are exact for one pair. `diff` reports some of these differences once for all routes. */
export function createPairChecks(sides: DiffContext): readonly PairCheck[] {
  const methods = pairMethods(sides);
  const limits = limitChanges(sides);
  const partners = Map.groupBy(sides.pairs, ({ from }) => from);
  const effects = new Map<unknown, string>();
  const effect = (upstream: Parameters<typeof effectOf>[0]) => getOrCreate(effects, upstream, () => effectOf(upstream));
  const sameCallers = new Map<string, boolean>();
  const isDivided = ({ from }: MatchedRoutePair) => new Set(partners.get(from)?.map(({ to }) => to)).size > 1;
  return [
    changedAccess,
    (pair) => {
      const rules = [pair.from, pair.to].map(({ entry }) => [entry.access, entry.roles, entry.issuers, entry.login]);
      const compare = () => changedCallers(pair, methods);
      return getOrCreate(sameCallers, JSON.stringify(rules), () => compare().next().done === true) ? [] : compare();
    },
    (pair) => changedUpstream(pair, effect),
    (pair) => changedLimits(pair, limits, isDivided(pair)),
  ];
}

function* changedAccess(pair: MatchedRoutePair): Generator<ProofFinding> {
  const { from, to, request } = pair;
  if (from.route.access === to.route.access) return;
  const finding = (rule: string, direction: Direction, message: string, witness?: DiffWitness) => ({
    ...findingAtKey(pair, rule, 'access', message, witness),
    ...{ pair, hasCaller: false, direction },
  });
  if (to.route.access === 'protected')
    yield finding('route-protected', 'stricter', 'is protected: it requires a token', requestWitness(pair));
  else {
    // A request that is valid for the new route needs no token.
    const witness = forwardedWitness({ from: to, to, request });
    yield finding('route-public', 'looser', 'is public: it no longer requires a token', witness);
  }
}

function* changedCallers(pair: MatchedRoutePair, methods: ReturnType<typeof pairMethods>): Generator<ProofFinding> {
  const { from, to } = pair;
  if (from.route.auth === undefined || to.route.auth === undefined) return;
  const isOpened = from.route.access === 'protected' && to.route.access === 'public';
  if (isOpened || (from.route.access === 'public' && from.route.login === undefined)) return;
  for (const finding of rolesOfPair(pair, methods, 'role-widened', 'now allows these roles', 'next'))
    yield { ...finding, pair, direction: 'looser' };
  for (const finding of rolesOfPair(pair, methods, 'role-narrowed', 'no longer allows these roles', 'old'))
    yield { ...finding, pair, direction: 'stricter' };
  for (const finding of changedIssuers(pair, methods))
    yield { ...finding, pair, direction: finding.rule === 'issuer-refused' ? 'stricter' : 'looser' };
}

function* changedUpstream(pair: MatchedRoutePair, effect: typeof effectOf): Generator<ProofFinding> {
  const [old, next] = [pair.from.route.upstream, pair.to.route.upstream];
  const finding = (rule: string, direction: Direction, message: string): ProofFinding => ({
    ...findingAtKey(pair, rule, 'upstream', message, forwardedWitness(pair)),
    ...{ pair, direction },
  });
  for (const found of changedPath(pair)) yield { ...found, direction: directionOf(found.rule) };
  if (old === undefined || next === undefined) {
    if (next !== undefined) yield finding('upstream-changed', 'looser', `now goes to the upstream "${next.id}"`);
    else if (old !== undefined) yield finding('upstream-changed', 'other', 'now gets a response of the gateway itself');
  } else if (effect(old) !== effect(next)) {
    const [before, now] = [old, next].map(({ endpoints }) => endpoints.map(({ url }) => url.href).sort());
    const isElsewhere = !isDeepStrictEqual(before, now) || old.host !== next.host;
    const hasLostCa = next.tls().ca === undefined && old.tls().ca !== undefined;
    const names = `"${next.id}" (was "${old.id}")`;
    if (isElsewhere)
      yield finding('upstream-changed', 'looser', `now goes to other addresses, or with another Host: ${names}`);
    else if (hasLostCa)
      yield finding('upstream-ca-removed', 'looser', `accepts certificates by any default authority: ${names}`);
    else yield finding('upstream-settings', 'other', `goes to an upstream with other settings: ${names}`);
  }
}

/** A rate limit of the old manifest, the same one of the new manifest, and its changes. */
type LimitChange = Pick<LimitPair, 'old'> & {
  readonly next: LimitPair['next'] | undefined;
  readonly nextId: string;
  readonly looser: readonly DiffFinding[];
  readonly stricter: readonly DiffFinding[];
};

function limitChanges(sides: DiffContext): ReadonlyMap<string, LimitChange> {
  const names = renamedLimits(sides);
  const limits = limitsOf(sides.next);
  return new Map(
    [...limitsOf(sides.old)].map(([id, old]): [string, LimitChange] => {
      const nextId = names.get(id) ?? replacementOf(id, old, sides) ?? id;
      const next = limits.get(nextId);
      if (next === undefined) return [id, { old, next, nextId, looser: [], stricter: [] }];
      const pair = { id: nextId, old, next };
      const settings = [...changedSettings(pair)];
      const isLooser = ({ rule }: DiffFinding) =>
        rule === 'rate-limit-reported' || (rule === 'rate-limit-key' && !countsMore(id, pair, sides));
      const looser = [...changedLimit(pair, true), ...settings.filter(isLooser)];
      const stricter = [...changedLimit(pair, false), ...settings.filter((one) => !isLooser(one))];
      return [id, { old, next, nextId, looser, stricter }];
    }),
  );
}

/** True if a limit counts all requests together that it counted together before: its key has no part that is new. */
function countsMore(id: string, { old, next }: LimitPair, sides: DiffContext): boolean {
  const routes = sides.old.routes.filter(({ entry }) => entry.rateLimits?.includes(id));
  const isOfOneRoute = (part: string) => part === ROUTE_PART && routes.length === 1;
  return next.keyParts.every((part) => old.keyParts.includes(part) || isOfOneRoute(part));
}

const ROUTE_PART = JSON.stringify({ route: true });

/** Returns another limit with all requests of an old one, if it is at least as strict. */
function replacementOf(id: string, old: LimitPair['old'], sides: DiffContext): string | undefined {
  const { next, pairs } = sides;
  const lists = pairs
    .filter(({ from }) => from?.entry.rateLimits?.includes(id))
    .map(({ to }) => to?.entry.rateLimits ?? []);
  if (lists.length === 0 || lists.every((list) => list.includes(id))) return undefined;
  return [...limitsOf(next)].find(([other, limit]) => {
    const pair = { id: other, old, next: limit };
    const isLooser = changedLimit(pair, true).next().done === false || limit.limit.mode === 'report';
    return lists.every((list) => list.includes(other)) && !isLooser && countsMore(id, pair, sides);
  })?.[0];
}

function* changedLimits(
  pair: MatchedRoutePair,
  changes: ReadonlyMap<string, LimitChange>,
  isDivided: boolean,
): Generator<ProofFinding> {
  const { from, to } = pair;
  const now = new Set(to.entry.rateLimits);
  const found = (rule: string, direction: Direction, message: string): ProofFinding => ({
    ...findingAtKey(pair, rule, 'rateLimits', message),
    ...{ pair, direction },
  });
  for (const id of from.entry.rateLimits ?? []) {
    const change = changes.get(id);
    if (change === undefined) continue;
    const { old, next, nextId, looser, stricter } = change;
    const isEnforced = old.limit.mode === 'enforce';
    const isKept = now.delete(nextId) && next !== undefined;
    const kept = isKept ? next.limit : undefined;
    const over = () => (isEnforced ? overLimit(pair, old.limit, kept) : {});
    const direction = isEnforced ? 'looser' : 'other';
    if (!isKept) yield { ...found('rate-limit-removed', direction, `no longer has the rate limit "${id}"`), ...over() };
    else {
      for (const { rule, message } of looser)
        yield { ...found(rule, direction, `has a looser rate limit: ${message}`), ...over() };
      for (const { rule, message } of stricter)
        yield {
          ...found(rule, 'stricter', `has another rate limit: ${message}`),
          ...(kept && overLimit(pair, kept, old.limit)),
        };
      if (isDivided && old.limit.kinds.includes('route') && from.route.id !== to.route.id)
        yield found(
          'rate-limit-key',
          direction,
          `counts by route, and no longer with other requests of "${from.route.id}": the rate limit "${id}"`,
        );
    }
  }
  for (const id of now) {
    const limit = to.side.plan.rateLimits.find((one) => one.id === id);
    yield {
      ...found('rate-limit-added', 'stricter', `has a new rate limit: "${id}"`),
      ...(limit && overLimit(pair, limit)),
    };
  }
}

/** The most requests that show a rate limit. */
const MAX_TIMES = 3_000;

/** Returns a request, and how often it is sent until only one limit refuses it. */
function overLimit(
  pair: MatchedRoutePair,
  old: RateLimit,
  next?: RateLimit,
): Pick<ProofFinding, 'witness' | 'sendings'> {
  const parts = [pair.from, pair.to].flatMap(({ side }) => side.manifest.rateLimits[old.id]?.key ?? []);
  const headers = parts.flatMap((part) => (typeof part === 'string' ? [] : (part.header ?? [])));
  const witness = forwardedWitness(
    pair,
    [...new Set(headers)].flatMap((name) => [name, 'a']),
  );
  const [status] = old.failures ?? [];
  const waitMs = next !== undefined && next.burst <= old.burst && next.mode === 'enforce' ? next.intervalMs : 0;
  const response = status === undefined ? {} : { response: { status, headers: [], body: Buffer.alloc(0) } };
  if (old.burst >= MAX_TIMES) return {};
  return { witness, sendings: [{ repetition: { times: old.burst + 1, waitMs }, ...response }] };
}
