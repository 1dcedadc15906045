import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffContext, DiffRequest } from '../difference.ts';
import { normalizeSchema } from '../schemas/normalize-schema.ts';
import { sampleRequests } from '../schemas/sample-requests.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const parametersLoosened: Comparison = {
  id: 'parameters-loosened',
  severity: 'warning',
  description: 'A request that was refused for its path, its query or a header goes on.',
  *find(sides) {
    for (const { pair, looser } of parameterComparisons(sides))
      if (looser !== undefined)
        yield findingAtKey(pair, keyOf(pair), 'lets parameters through that it refused', { request: looser });
  },
};

export const parametersTightened: Comparison = {
  id: 'parameters-tightened',
  severity: 'info',
  description: 'A request that went on is refused for its path, its query or a header.',
  *find(sides) {
    for (const { pair, tighter } of parameterComparisons(sides))
      if (tighter !== undefined)
        yield findingAtKey(pair, keyOf(pair), 'refuses parameters that it let through', { request: tighter });
  },
};

export const parametersChanged: Comparison = {
  id: 'parameters-changed',
  severity: 'warning',
  description: 'What parameters must be is written otherwise, and no request was found that shows what it means.',
  *find(sides) {
    for (const { pair, looser, tighter } of parameterComparisons(sides))
      if (looser === undefined && tighter === undefined)
        yield findingAtKey(
          pair,
          keyOf(pair),
          'has other rules for parameters; whether they let more through is not known',
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

/** The pairs whose rules differ, with requests that show it, compared once for all who ask. */
function parameterComparisons(sides: DiffContext): readonly ParameterComparison[] {
  const before = comparisonCache.get(sides);
  if (before !== undefined) return before;
  const compared = [...matchedRoutes(sides)]
    .filter((pair) => hasOtherRules(sides, pair))
    .map((pair) => compareParameters(sides, pair));
  comparisonCache.set(sides, compared);
  return compared;
}

/** The key that differs, where it can be told. */
function keyOf({ from, to }: MatchedRoutePair): string {
  return KEYS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

function hasOtherRules({ old, next }: DiffContext, { from, to }: MatchedRoutePair): boolean {
  return KEYS.some((key) => {
    const text = (side: DiffContext['old'], { entry, path }: MatchedRoutePair['from']) => {
      const { properties = {}, ...rest } = entry[key] ?? {};
      const schemas = Object.keys(properties).map((name) => [
        name,
        normalizeSchema(side.schemas, [...path, key, 'properties', name]),
      ]);
      return JSON.stringify([entry[key] === undefined, rest, schemas.sort()]);
    };
    return text(old, from) !== text(next, to);
  });
}

function compareParameters(sides: DiffContext, pair: MatchedRoutePair): ParameterComparison {
  const fits = ({ route }: MatchedRoutePair['from'], { url, headers = [] }: DiffRequest) => {
    const [path = '', query = ''] = url.split(/(?=\?)/, 2);
    return (route.parameters?.validate(path, query, headers) ?? []).length === 0;
  };
  let looser: DiffRequest | undefined;
  let tighter: DiffRequest | undefined;
  const requests = sampleRequests(sides, pair).sort((a, b) => a.url.length - b.url.length);
  for (const request of requests) {
    const [before, now] = [fits(pair.from, request), fits(pair.to, request)];
    if (now && !before) looser ??= request;
    if (before && !now) tighter ??= request;
  }
  return { pair, looser, tighter };
}
