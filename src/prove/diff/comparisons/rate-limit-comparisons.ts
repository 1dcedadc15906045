import { rateLimitKeyText } from '../../rate-limit-key-text.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import {
  changedRouteLimits,
  commonLimits,
  type DiffLimit,
  type LimitPair,
  limitsOf,
  type RoutesByLimit,
  renamedLimits,
} from '../rate-limit-pairs.ts';
import type { DiffSide } from '../side.ts';

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
    for (const pair of commonLimits(sides)) {
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
    const [first] = routes;
    if (first === undefined) continue;
    const ids = routes.map(({ route }) => `"${route.id}"`);
    const others = ids.length > MAX_ROUTES ? ` and ${ids.length - MAX_ROUTES} other routes` : '';
    const named = `the ${ids.length === 1 ? 'route' : 'routes'} ${ids.slice(0, MAX_ROUTES).join(', ')}${others}`;
    yield { rule, message: `the rate limit "${id}" ${change} ${named}`, path: [...first.path, 'rateLimits'] };
  }
}

/** The routes that a message names. */
const MAX_ROUTES = 3;

/** Yields the changes after which a rate limit refuses fewer requests, or those after which it refuses more. */
function* changedLimit({ id, old, next }: LimitPair, isLooser: boolean): Generator<DiffFinding> {
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

function* changedSettings({ id, old, next }: LimitPair): Generator<DiffFinding> {
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
  const unusedIn = (side: DiffSide, other: DiffSide) =>
    [...limitsOf(side).keys()].filter(
      (id) =>
        !limitsOf(other).has(id) &&
        !renamed.has(id) &&
        !side.routes.some(({ entry }) => entry.rateLimits?.includes(id)),
    );
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
