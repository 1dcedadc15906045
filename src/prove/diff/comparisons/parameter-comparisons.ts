import { isDeepStrictEqual } from 'node:util';
import { foldHeaderName } from '../../../engine/header-names.ts';
import { normalizeParameter } from '../../schema-comparison/parameter-texts.ts';
import type { Comparison, DiffContext, DiffRequest, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffSide } from '../side.ts';
import { sampleRequests, segmentOf } from '../witnesses/sample-requests.ts';
import { hasValidParameters } from '../witnesses/sample-witnesses.ts';

export const parameterComparison: Comparison = {
  rules: {
    'parameters-loosened': [
      'warning',
      'The gateway now accepts a request that it refused before because of its path, query or headers.',
    ],
    'parameters-tightened': [
      'info',
      'The gateway now refuses a request because of its path, query or headers, although it accepted it before.',
    ],
    'parameters-changed': ['warning', 'The rules for parameters changed, and no sample request shows the effect.'],
  },
  *find(sides) {
    for (const pair of changedParameters(sides)) {
      const { looser, tighter, isCut } = compareParameters(sides, pair);
      const finding = (rule: string, message: string, request?: DiffRequest) =>
        findingAtKey(pair, rule, keyOf(pair), message, request && { request });
      const reason = isCut
        ? 'the search for a request that shows the effect was cut short'
        : 'no sample request shows the effect';
      if (looser !== undefined)
        yield finding('parameters-loosened', 'now accepts parameters that it refused before', looser);
      if (tighter !== undefined)
        yield finding('parameters-tightened', 'now refuses parameters that it accepted before', tighter);
      if (looser === undefined && tighter === undefined)
        yield finding('parameters-changed', `has different rules for parameters, and ${reason}`);
    }
  },
};

const KEYS = ['params', 'query', 'headers'] as const;

interface ParameterComparison {
  readonly looser: DiffRequest | undefined;
  readonly tighter: DiffRequest | undefined;
  /** True if the search for samples ended because it had used its steps. */
  readonly isCut: boolean;
}

/** Returns the pairs whose rules differ. */
function changedParameters(sides: DiffContext): readonly MatchedRoutePair[] {
  const byContent = new Map<string, boolean>();
  const isChanged = (pair: MatchedRoutePair) => {
    const content = JSON.stringify([pair.from, pair.to].map(({ entry }) => KEYS.map((key) => entry[key])));
    const known = byContent.get(content) ?? hasDifferentRules(sides, pair);
    byContent.set(content, known);
    return known;
  };
  return [...routesWithOtherSchemas(sides)].filter(isChanged);
}

/** Returns the key that differs, or `path` if only referenced schemas differ. */
function keyOf({ from, to }: MatchedRoutePair): string {
  return KEYS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

function hasDifferentRules({ old, next }: DiffContext, { from, to }: MatchedRoutePair): boolean {
  return KEYS.some((key) => {
    const [before, now] = [from.entry[key], to.entry[key]];
    if (before === undefined && now === undefined) return false;
    return rulesOf(old, from, key) !== rulesOf(next, to, key);
  });
}

type ParameterKey = (typeof KEYS)[number];

/** Serializes the rules for path parameters, the query or headers: two equal results accept the same requests. */
function rulesOf({ schemas }: DiffSide, route: MatchedRoutePair['from'], key: ParameterKey): string {
  // The names of path parameters do not matter, only their segments. Header names have several spellings.
  const keyOfName = (name: string) =>
    key === 'params' ? String(segmentOf(route, name)) : key === 'headers' ? foldHeaderName(name) : name;
  const { properties, ...lists } = { properties: {}, ...route.entry[key] };
  const rest = Object.entries(lists).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((item) => keyOfName(String(item))).sort() : value,
  ]);
  const rules = Object.keys(properties).map((name) => [
    keyOfName(name),
    normalizeParameter(schemas, [...route.path, key, 'properties', name]),
  ]);
  return JSON.stringify([rest.sort(), rules.sort()]);
}

function compareParameters(sides: DiffContext, pair: MatchedRoutePair): ParameterComparison {
  let looser: DiffRequest | undefined;
  let tighter: DiffRequest | undefined;
  const { requests, isCut } = sampleRequests(sides, pair);
  for (const request of requests.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const [before, now] = [hasValidParameters(pair.from, request), hasValidParameters(pair.to, request)];
    if (now && !before) looser ??= request;
    if (before && !now) tighter ??= request;
  }
  return { looser, tighter, isCut };
}

function lengthOf({ url, headers = [] }: DiffRequest): number {
  return url.length + headers.join('').length;
}
