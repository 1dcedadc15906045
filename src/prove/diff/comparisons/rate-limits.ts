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
import { loosenings, tightenings } from '../settings/rate-limit-changes.ts';

export const rateLimitRemoved: Comparison = {
  id: 'rate-limit-removed',
  severity: 'warning',
  description: 'A rate limit no longer applies to a route.',
  find: (sides) =>
    changedRoutes(
      changedRouteLimits(sides).lost,
      (id, routes) => `the rate limit "${id}" no longer applies to ${routes}`,
    ),
};

export const rateLimitAdded: Comparison = {
  id: 'rate-limit-added',
  severity: 'info',
  description: 'A rate limit now applies to a route.',
  find: (sides) =>
    changedRoutes(changedRouteLimits(sides).added, (id, routes) => `the rate limit "${id}" now applies to ${routes}`),
};

export const rateLimitLoosened: Comparison = {
  id: 'rate-limit-loosened',
  severity: 'warning',
  description: 'A rate limit allows or skips more requests, counts fewer of them, or is no longer shared.',
  find: (sides) => changedLimits(sides, loosenings),
};

export const rateLimitTightened: Comparison = {
  id: 'rate-limit-tightened',
  severity: 'info',
  description: 'A rate limit allows or skips fewer requests, counts more of them, or is now shared.',
  find: (sides) => changedLimits(sides, tightenings),
};

export const rateLimitKey: Comparison = {
  id: 'rate-limit-key',
  severity: 'warning',
  description: 'A rate limit counts by another value, and its counters start again.',
  *find(sides) {
    for (const { id, old, next } of commonLimits(sides))
      if (old.keyEffect !== next.keyEffect)
        yield {
          message: `the rate limit "${id}" now counts by ${keyText(next)} (was ${keyText(old)})`,
          path: ['rateLimits', id, 'key'],
        };
  },
};

export const rateLimitReported: Comparison = {
  id: 'rate-limit-reported',
  severity: 'warning',
  description: 'A rate limit only reports the requests that it refused.',
  find: (sides) => changedModes(sides, 'report', 'now only reports the requests over it (it refused them)'),
};

export const rateLimitEnforced: Comparison = {
  id: 'rate-limit-enforced',
  severity: 'info',
  description: 'A rate limit refuses the requests that it only reported.',
  find: (sides) => changedModes(sides, 'enforce', 'now refuses the requests over it (it only reported them)'),
};

export const rateLimitSettings: Comparison = {
  id: 'rate-limit-settings',
  severity: 'info',
  description: 'A rate limit has another name, store or date, or one without routes was added or removed.',
  *find(sides) {
    const names = renamedLimits(sides);
    for (const [id, newId] of names)
      yield {
        message: `the rate limit "${id}" is now "${newId}"; its counters start again`,
        path: ['rateLimits', newId],
      };
    for (const { id, old, next } of commonLimits(sides)) yield* changedSettings(id, old, next);
    yield* unusedLimits(sides, names);
  },
};

function* changedRoutes(
  changed: RoutesByLimit,
  message: (id: string, routes: string) => string,
): Generator<DiffFinding> {
  for (const [id, routes] of changed) {
    const [first] = routes;
    if (first === undefined) continue;
    const ids = routes.map(({ route }) => `"${route.id}"`);
    const others = ids.length > MAX_ROUTES ? ` and ${ids.length - MAX_ROUTES} other routes` : '';
    const named = `the ${ids.length === 1 ? 'route' : 'routes'} ${ids.slice(0, MAX_ROUTES).join(', ')}${others}`;
    yield { message: message(id, named), path: [...first.path, 'rateLimits'] };
  }
}

/** The routes that a message names. */
const MAX_ROUTES = 3;

function* changedLimits(sides: DiffContext, changesOf: (pair: LimitPair) => Iterable<[string, string]>) {
  for (const pair of commonLimits(sides))
    for (const [key, message] of changesOf(pair))
      yield { message: `the rate limit "${pair.id}" ${message}`, path: ['rateLimits', pair.id, key] };
}

function* changedModes(sides: DiffContext, mode: 'enforce' | 'report', message: string): Generator<DiffFinding> {
  for (const { id, old, next } of commonLimits(sides))
    if (next.limit.mode === mode && old.limit.mode !== mode)
      yield { message: `the rate limit "${id}" ${message}`, path: ['rateLimits', id, 'mode'] };
}

function* changedSettings(id: string, old: DiffLimit, next: DiffLimit): Generator<DiffFinding> {
  const [before, now] = [old.limit.store?.id, next.limit.store?.id];
  if (before !== undefined && now !== undefined && before !== now)
    yield {
      message: `the rate limit "${id}" now uses the store "${now}" (was "${before}"), in which its counters start again`,
      path: ['rateLimits', id, 'store'],
    };
  const dates = [old, next].map(({ entry }) => entry.reportUntil ?? 'not set');
  if (dates[0] !== dates[1])
    yield {
      message: `the rate limit "${id}" is intended to report until: ${dates[1]} (was ${dates[0]})`,
      path: ['rateLimits', id, 'reportUntil'],
    };
}

/** Yields the limits that only one manifest has, and no route of it uses. */
function* unusedLimits({ old, next }: DiffContext, names: ReadonlyMap<string, string>): Generator<DiffFinding> {
  const newNames = new Set(names.values());
  const isUnused = ({ routes }: DiffContext['old'], id: string) =>
    !routes.some(({ entry }) => entry.rateLimits?.includes(id));
  for (const id of limitsOf(old).keys())
    if (!limitsOf(next).has(id) && !names.has(id) && isUnused(old, id))
      yield {
        message: `the rate limit "${id}", which no route uses, was removed`,
        path: ['rateLimits', id],
        side: 'old',
      };
  for (const id of limitsOf(next).keys())
    if (!limitsOf(old).has(id) && !newNames.has(id) && isUnused(next, id))
      yield { message: `the rate limit "${id}", which no route uses, was added`, path: ['rateLimits', id] };
}

function keyText({ entry }: DiffLimit): string {
  const folds = [entry.key].flat().some((part) => typeof part === 'object' && part.fold !== undefined);
  return `${rateLimitKeyText(entry.key)}${folds ? ', in any letter case' : ''}`;
}
