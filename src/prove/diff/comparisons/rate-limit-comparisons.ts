import { rateLimitKeyText } from '../../rate-limit-key-text.ts';
import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
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

export const rateLimitComparisons: Comparisons = {
  'rate-limit-removed': {
    severity: 'warning',
    description: 'A rate limit no longer applies to a route.',
    find: (sides) => changedRoutes(changedRouteLimits(sides).lost, 'no longer applies to'),
  },
  'rate-limit-loosened': {
    severity: 'warning',
    description: 'A rate limit allows or skips more requests, counts fewer of them, or is no longer shared.',
    find: (sides) => changedLimits(sides, true),
  },
  'rate-limit-reported': {
    severity: 'warning',
    description: 'A rate limit only reports the requests that it refused.',
    find: (sides) => changedModes(sides, 'report', 'now only reports the requests over it (it refused them)'),
  },
  'rate-limit-key': {
    severity: 'warning',
    description: 'A rate limit counts by another value, and its counters start again.',
    *find(sides) {
      for (const { id, old, next } of commonLimits(sides))
        if (old.keyEffect !== next.keyEffect)
          yield limitFinding(id, 'key', `now counts by ${keyText(next)} (was ${keyText(old)})`);
    },
  },
  'rate-limit-added': {
    severity: 'info',
    description: 'A rate limit now applies to a route.',
    find: (sides) => changedRoutes(changedRouteLimits(sides).added, 'now applies to'),
  },
  'rate-limit-tightened': {
    severity: 'info',
    description: 'A rate limit allows or skips fewer requests, counts more of them, or is now shared.',
    find: (sides) => changedLimits(sides, false),
  },
  'rate-limit-enforced': {
    severity: 'info',
    description: 'A rate limit refuses the requests that it only reported.',
    find: (sides) => changedModes(sides, 'enforce', 'now refuses the requests over it (it only reported them)'),
  },
  'rate-limit-settings': {
    severity: 'info',
    description: 'A rate limit has another name, store or date, or one without routes was added or removed.',
    *find(sides) {
      const names = renamedLimits(sides);
      for (const [id, newId] of names)
        yield {
          message: `the rate limit "${id}" is now "${newId}"; its counters start again`,
          path: ['rateLimits', newId],
        };
      for (const pair of commonLimits(sides)) yield* changedSettings(pair);
      yield* unusedLimits(sides, names);
    },
  },
};

function* changedRoutes(changed: RoutesByLimit, change: string): Generator<DiffFinding> {
  for (const [id, routes] of changed) {
    const [first] = routes;
    if (first === undefined) continue;
    const ids = routes.map(({ route }) => `"${route.id}"`);
    const others = ids.length > MAX_ROUTES ? ` and ${ids.length - MAX_ROUTES} other routes` : '';
    const named = `the ${ids.length === 1 ? 'route' : 'routes'} ${ids.slice(0, MAX_ROUTES).join(', ')}${others}`;
    yield { message: `the rate limit "${id}" ${change} ${named}`, path: [...first.path, 'rateLimits'] };
  }
}

/** The routes that a message names. */
const MAX_ROUTES = 3;

/** Yields the changes after which a rate limit refuses fewer requests, or those after which it refuses more. */
function* changedLimits(sides: DiffContext, isLooser: boolean): Generator<DiffFinding> {
  for (const { id, old, next } of commonLimits(sides)) {
    const [strict, loose] = isLooser ? [old.limit, next.limit] : [next.limit, old.limit];
    const finding = (key: string, looser: string, tighter: string) =>
      limitFinding(id, key, isLooser ? looser : tighter);
    if (loose.intervalMs < strict.intervalMs || loose.burst > strict.burst)
      yield limitFinding(id, 'allow', `now allows ${rateText(next)} (was ${rateText(old)})`);
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
}

function* changedModes(sides: DiffContext, mode: 'enforce' | 'report', message: string): Generator<DiffFinding> {
  for (const { id, old, next } of commonLimits(sides))
    if (next.limit.mode === mode && old.limit.mode !== mode) yield limitFinding(id, 'mode', message);
}

function* changedSettings({ id, old, next }: LimitPair): Generator<DiffFinding> {
  const [before, now] = [old.limit.store?.id, next.limit.store?.id];
  if (before !== undefined && now !== undefined && before !== now)
    yield limitFinding(id, 'store', `now uses the store "${now}" (was "${before}"), in which its counters start again`);
  const [date, newDate] = [old, next].map(({ entry }) => entry.reportUntil ?? 'not set');
  if (date !== newDate) yield limitFinding(id, 'reportUntil', `is intended to report until: ${newDate} (was ${date})`);
}

function limitFinding(id: string, key: string, message: string): DiffFinding {
  return { message: `the rate limit "${id}" ${message}`, path: ['rateLimits', id, key] };
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
  const text = (id: string, change: string) => `the rate limit "${id}", which no route uses, was ${change}`;
  for (const id of unusedIn(old, next)) yield { message: text(id, 'removed'), path: ['rateLimits', id], side: 'old' };
  for (const id of unusedIn(next, old)) yield { message: text(id, 'added'), path: ['rateLimits', id] };
}

function keyText({ entry }: DiffLimit): string {
  const folds = [entry.key].flat().some((part) => typeof part === 'object' && part.fold !== undefined);
  return `${rateLimitKeyText(entry.key)}${folds ? ', in any letter case' : ''}`;
}

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
