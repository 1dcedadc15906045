import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffContext, DiffRequest } from '../difference.ts';
import { normalizeSchema } from '../schemas/normalize-schema.ts';
import { sampleRequests } from '../schemas/sample-requests.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const parametersLoosened: Comparison = {
  id: 'parameters-loosened',
  severity: 'warning',
  description: 'The gateway now accepts a request that it refused before because of its path, query or headers.',
  *find(sides) {
    for (const { pair, looser } of parameterComparisons(sides))
      if (looser !== undefined)
        yield findingAtKey(pair, keyOf(pair), 'now accepts parameters that it refused before', { request: looser });
  },
};

export const parametersTightened: Comparison = {
  id: 'parameters-tightened',
  severity: 'info',
  description:
    'The gateway now refuses a request because of its path, query or headers, although it accepted it before.',
  *find(sides) {
    for (const { pair, tighter } of parameterComparisons(sides))
      if (tighter !== undefined)
        yield findingAtKey(pair, keyOf(pair), 'now refuses parameters that it accepted before', { request: tighter });
  },
};

export const parametersChanged: Comparison = {
  id: 'parameters-changed',
  severity: 'warning',
  description: 'The rules for parameters changed, and no sample request shows the effect.',
  *find(sides) {
    for (const { pair, looser, tighter } of parameterComparisons(sides))
      if (looser === undefined && tighter === undefined)
        yield findingAtKey(
          pair,
          keyOf(pair),
          'has different rules for parameters, and no sample request shows the effect',
        );
  },
};

const KEYS = ['params', 'query', 'headers'] as const;

interface ParameterComparison {
  readonly pair: MatchedRoutePair;
  readonly looser: DiffRequest | undefined;
  readonly tighter: DiffRequest | undefined;
}

const comparisonCache = new WeakMap<DiffContext, readonly ParameterComparison[]>();

/** Returns the pairs whose rules differ, with sample requests that show it. The three comparisons share the result. */
function parameterComparisons(sides: DiffContext): readonly ParameterComparison[] {
  const cached = comparisonCache.get(sides);
  if (cached !== undefined) return cached;
  const comparisons = [...matchedRoutes(sides)]
    .filter((pair) => hasDifferentRules(sides, pair))
    .map((pair) => compareParameters(sides, pair));
  comparisonCache.set(sides, comparisons);
  return comparisons;
}

/** Returns the key that differs, or `path` if only referenced schemas differ. */
function keyOf({ from, to }: MatchedRoutePair): string {
  return KEYS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

function hasDifferentRules({ old, next }: DiffContext, { from, to }: MatchedRoutePair): boolean {
  return KEYS.some((key) => {
    const serialize = (side: DiffContext['old'], { entry, path }: MatchedRoutePair['from']) => {
      const { properties = {}, ...rest } = entry[key] ?? {};
      const schemas = Object.keys(properties).map((name) => [
        name,
        normalizeSchema(side.schemas, [...path, key, 'properties', name]),
      ]);
      // The order of keys and names means nothing.
      const lists = Object.entries(rest).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.toSorted() : value,
      ]);
      return JSON.stringify([entry[key] === undefined, lists.sort(), schemas.sort()]);
    };
    return serialize(old, from) !== serialize(next, to);
  });
}

function compareParameters(sides: DiffContext, pair: MatchedRoutePair): ParameterComparison {
  const isValid = ({ route }: MatchedRoutePair['from'], { url, headers = [] }: DiffRequest) => {
    const [path = '', query = ''] = url.split(/(?=\?)/, 2);
    return (route.parameters?.validate(path, query, headers) ?? []).length === 0;
  };
  let looser: DiffRequest | undefined;
  let tighter: DiffRequest | undefined;
  const requests = sampleRequests(sides, pair).sort((a, b) => a.url.length - b.url.length);
  for (const request of requests) {
    const [before, now] = [isValid(pair.from, request), isValid(pair.to, request)];
    if (now && !before) looser ??= request;
    if (before && !now) tighter ??= request;
  }
  return { pair, looser, tighter };
}
