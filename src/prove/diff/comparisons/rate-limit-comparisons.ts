import { getOrCreate } from '../../../engine/get-or-create.ts';
import type { RateLimit as RateLimitEntry, RateLimitKeyPart } from '../../../engine/manifest/manifest.generated.ts';
import type { RateLimit } from '../../../engine/rate-limits/rate-limit.ts';
import { rateLimitKeyText } from '../../rate-limit-key-text.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { commonValues, matchedRoutes, type PairById, renamedIds } from '../matched-routes.ts';
import type { DiffRoute, DiffSide } from '../side.ts';

export const rateLimitComparison: Comparison = {
  rules: {
    'rate-limit-removed': ['warning', 'A rate limit no longer applies to a route.'],
    'rate-limit-loosened': [
      'warning',
      'A rate limit allows or skips more requests, counts fewer of them, or is no longer shared.',
    ],
    'rate-limit-reported': ['warning', 'A rate limit only reports the requests that it refused.'],
    'rate-limit-key': ['warning', 'A rate limit counts by another value, and its counters start again.'],
    'rate-limit-added': ['info', 'A rate limit now applies to a route.'],
    'rate-limit-tightened': [
      'info',
      'A rate limit allows or skips fewer requests, counts more of them, or is now shared.',
    ],
    'rate-limit-enforced': ['info', 'A rate limit refuses the requests that it only reported.'],
    'rate-limit-settings': [
      'info',
      'A rate limit has another name, store or date, or one without routes was added or removed.',
    ],
  },
  *find(sides) {
    const { lost, added } = changedRouteLimits(sides);
    yield* changedRoutes('rate-limit-removed', lost, 'no longer applies to');
    yield* changedRoutes('rate-limit-added', added, 'now applies to');
    for (const pair of commonValues(limitsOf(sides.old), limitsOf(sides.next))) {
      yield* changedLimit(pair, true);
      yield* changedLimit(pair, false);
      yield* changedSettings(pair);
    }
    const names = renamedLimits(sides);
    for (const [id, newId] of names) {
      const message = `the rate limit "${id}" is now "${newId}"; its counters start again`;
      yield { rule: 'rate-limit-settings', message, path: ['rateLimits', newId] };
    }
    yield* unusedLimits(sides, names);
  },
};

function* changedRoutes(rule: string, changed: RoutesByLimit, change: string): Generator<DiffFinding> {
  for (const [id, routes] of changed) {
    const sorted = [...routes].sort((a, b) => Number(a.path[1]) - Number(b.path[1]));
    const ids = sorted.map(({ route }) => `"${route.id}"`);
    const others = ids.length > MAX_ROUTES ? ` and ${ids.length - MAX_ROUTES} other routes` : '';
    const named = `the ${ids.length === 1 ? 'route' : 'routes'} ${ids.slice(0, MAX_ROUTES).join(', ')}${others}`;
    yield {
      rule,
      message: `the rate limit "${id}" ${change} ${named}`,
      path: [...(sorted[0]?.path ?? []), 'rateLimits'],
    };
  }
}

/** The routes that a message names. */
const MAX_ROUTES = 3;

/** Yields the changes after which a rate limit refuses fewer requests, or those after which it refuses more. */
export function* changedLimit({ id, old, next }: LimitPair, isLooser: boolean): Generator<DiffFinding> {
  const [strict, loose] = isLooser ? [old.limit, next.limit] : [next.limit, old.limit];
  const rule = isLooser ? 'rate-limit-loosened' : 'rate-limit-tightened';
  const finding = (key: string, looser: string, tighter: string) =>
    limitFinding(id, rule, key, isLooser ? looser : tighter);
  if (loose.intervalMs < strict.intervalMs || loose.burst > strict.burst)
    yield limitFinding(id, rule, 'allow', `now allows ${rateText(next)} (was ${rateText(old)})`);
  const statuses = statusesOnlyIn(strict.failures, loose.failures);
  if (statuses !== undefined) yield finding('count', `no longer counts ${statuses}`, `now counts ${statuses}`);
  if (strict.missing === 'refuse' && loose.missing === 'skip')
    yield finding(
      'missing',
      'now skips requests without its key (it refused them)',
      'now refuses requests without its key (it skipped them)',
    );
  if (strict.store !== undefined && loose.store === undefined)
    yield finding(
      'store',
      'is now counted by each gateway alone (the gateways shared its counters)',
      'now shares its counters with other gateways (each gateway counted alone)',
    );
}

/** Yields the other changes of a rate limit. */
export function* changedSettings({ id, old, next }: LimitPair): Generator<DiffFinding> {
  if (old.keyEffect !== next.keyEffect)
    yield limitFinding(id, 'rate-limit-key', 'key', `now counts by ${keyText(next)} (was ${keyText(old)})`);
  const { mode } = next.limit;
  if (mode !== old.limit.mode && mode === 'report')
    yield limitFinding(id, 'rate-limit-reported', 'mode', 'now only reports the requests over it (it refused them)');
  if (mode !== old.limit.mode && mode === 'enforce')
    yield limitFinding(id, 'rate-limit-enforced', 'mode', 'now refuses the requests over it (it only reported them)');
  const finding = (key: string, message: string) => limitFinding(id, 'rate-limit-settings', key, message);
  const [before, now] = [old.limit.store?.id, next.limit.store?.id];
  if (before !== undefined && now !== undefined && before !== now)
    yield finding('store', `now uses the store "${now}" (was "${before}"), in which its counters start again`);
  const [date, newDate] = [old, next].map(({ entry }) => entry.reportUntil ?? 'not set');
  if (date !== newDate) yield finding('reportUntil', `is intended to report until: ${newDate} (was ${date})`);
}

function limitFinding(id: string, rule: string, key: string, message: string): DiffFinding {
  return { rule, message: `the rate limit "${id}" ${message}`, path: ['rateLimits', id, key] };
}

/** Yields the limits that only one manifest has, and no route of it uses. */
function* unusedLimits({ old, next }: DiffContext, names: ReadonlyMap<string, string>): Generator<DiffFinding> {
  const renamed = new Set([...names.keys(), ...names.values()]);
  const unusedIn = (side: DiffSide, other: DiffSide) => {
    const used = new Set(side.routes.flatMap(({ entry }) => entry.rateLimits ?? []));
    return new Set(limitsOf(side).keys()).difference(limitsOf(other)).difference(renamed).difference(used);
  };
  const finding = (id: string, change: string) => ({
    rule: 'rate-limit-settings',
    message: `the rate limit "${id}", which no route uses, was ${change}`,
    path: ['rateLimits', id],
  });
  for (const id of unusedIn(old, next)) yield { ...finding(id, 'removed'), side: 'old' };
  for (const id of unusedIn(next, old)) yield finding(id, 'added');
}

function keyText({ entry }: DiffLimit): string {
  const folds = [entry.key]
    .flat()
    .flatMap((part) => (typeof part === 'object' && part.fold ? FOLD_TEXTS[part.fold] : []));
  return [rateLimitKeyText(entry.key), ...new Set(folds)].join(', ');
}

const FOLD_TEXTS = { case: 'in any letter case', text: 'in any spelling', accents: 'with or without accents' } as const;

function rateText({ entry: { allow, burst } }: DiffLimit): string {
  return burst === undefined ? allow : `${allow}, at most ${burst} at once`;
}

/** Describes the responses that only the first list counts. `undefined` stands for a list that counts every request. */
function statusesOnlyIn(
  one: ReadonlySet<number> | undefined,
  other: ReadonlySet<number> | undefined,
): string | undefined {
  if (other === undefined) return undefined;
  if (one === undefined) return 'requests with other responses than failures';
  const statuses = [...one].filter((status) => !other.has(status)).sort();
  return statuses.length === 0 ? undefined : `responses with ${statuses.join(', ')}`;
}

/** A rate limit of one side, as written and as compiled. */
export interface DiffLimit {
  readonly limit: RateLimit;
  /** The parts of the key, sorted. */
  readonly keyParts: readonly string[];
  /** Equal for keys that count the same requests together. */
  readonly keyEffect: string;
  /** The entry with references to the environment instead of their values, safe to print. */
  readonly entry: RateLimitEntry;
}

export type LimitPair = PairById<DiffLimit>;

/** Returns the rate limits of a side, by id. */
export function limitsOf({ plan, manifest, redacted }: DiffSide): ReadonlyMap<string, DiffLimit> {
  return new Map(
    plan.rateLimits.map((limit) => {
      const entry = redacted.rateLimits[limit.id] as RateLimitEntry;
      const keyParts = keyPartsOf(manifest.rateLimits[limit.id] as RateLimitEntry);
      return [limit.id, { limit, entry, keyParts, keyEffect: keyParts.join() }];
    }),
  );
}

/** Returns the new id of each limit of the old manifest that has only another name in the new one. */
export function renamedLimits({ old, next }: DiffContext): ReadonlyMap<string, string> {
  return renamedIds(limitsOf(old), limitsOf(next), effectOf);
}

/** The routes that lost a limit, or got one, by the id of the limit. */
type RoutesByLimit = Map<string, Set<DiffRoute>>;

/** Returns the routes whose requests a limit of the old manifest no longer counts, and those that a new one counts. */
function changedRouteLimits(sides: DiffContext) {
  const names = renamedLimits(sides);
  const lost: RoutesByLimit = new Map();
  const added: RoutesByLimit = new Map();
  for (const { from, to } of matchedRoutes(sides)) {
    const before = new Set((from.entry.rateLimits ?? []).map((id) => names.get(id) ?? id));
    const now = new Set(to.entry.rateLimits);
    for (const id of before.difference(now)) getOrCreate(lost, id, () => new Set()).add(to);
    for (const id of now.difference(before)) getOrCreate(added, id, () => new Set()).add(to);
  }
  return { lost, added };
}

function effectOf({ limit, keyEffect }: DiffLimit): string {
  const { missing, burst, intervalMs, failures, mode, store } = limit;
  const statuses = failures && [...failures].sort();
  return JSON.stringify([keyEffect, missing, burst, intervalMs, statuses, mode, store?.id]);
}

function keyPartsOf({ key }: RateLimitEntry): readonly string[] {
  const parts = [key].flat().map((part) => (typeof part === 'string' ? { [part]: true } : partEffect(part)));
  return parts.map((part) => JSON.stringify(part)).sort();
}

/** The prefix length of `client` without a map. */
const DEFAULT_IPV6_PREFIX = 64;

function partEffect({ header, client, body, claim, fold }: RateLimitKeyPart): object {
  if (client?.ipv6Prefix === DEFAULT_IPV6_PREFIX) return { client: true };
  return { body, claim, fold, client: client?.ipv6Prefix, header: header?.toLowerCase() };
}
