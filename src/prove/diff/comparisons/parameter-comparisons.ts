import { isDeepStrictEqual } from 'node:util';
import { foldHeaderName } from '../../../engine/header-names.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { normalizeParameter } from '../../schema-comparison/parameter-texts.ts';
import { schemaContent } from '../../schema-comparison/schema-content.ts';
import {
  type Comparisons,
  type DiffContext,
  type DiffRequest,
  type MatchedRoutePair,
  oncePerDiff,
} from '../difference.ts';
import { findingAtKey, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffSide } from '../side.ts';
import { sampleRequests, segmentOf } from '../witnesses/sample-requests.ts';
import { hasValidParameters } from '../witnesses/sample-witnesses.ts';

export const parameterComparisons: Comparisons = {
  'parameters-loosened': {
    severity: 'warning',
    description: 'The gateway now accepts a request that it refused before because of its path, query or headers.',
    *find(sides) {
      for (const { pair, looser } of changedParameters(sides))
        if (looser !== undefined)
          yield findingAtKey(pair, keyOf(pair), 'now accepts parameters that it refused before', { request: looser });
    },
  },
  'parameters-tightened': {
    severity: 'info',
    description:
      'The gateway now refuses a request because of its path, query or headers, although it accepted it before.',
    *find(sides) {
      for (const { pair, tighter } of changedParameters(sides))
        if (tighter !== undefined)
          yield findingAtKey(pair, keyOf(pair), 'now refuses parameters that it accepted before', { request: tighter });
    },
  },
  'parameters-changed': {
    severity: 'warning',
    description: 'The rules for parameters changed, and no sample request shows the effect.',
    *find(sides) {
      for (const { pair, looser, tighter, isCut } of changedParameters(sides)) {
        const reason = isCut
          ? 'the search for a request that shows the effect was cut short'
          : 'no sample request shows the effect';
        if (looser === undefined && tighter === undefined)
          yield findingAtKey(pair, keyOf(pair), `has different rules for parameters, and ${reason}`);
      }
    },
  },
};

const KEYS = ['params', 'query', 'headers'] as const;

interface ParameterComparison {
  readonly pair: MatchedRoutePair;
  readonly looser: DiffRequest | undefined;
  readonly tighter: DiffRequest | undefined;
  /** True if the search for samples ended because it had used its steps. */
  readonly isCut: boolean;
}

/** Returns the pairs whose rules differ, with sample requests that show it. */
const changedParameters = oncePerDiff((sides): readonly ParameterComparison[] => {
  const byContent = new Map<string, boolean>();
  const isChanged = (pair: MatchedRoutePair) => {
    const content = JSON.stringify([pair.from, pair.to].map(({ entry }) => KEYS.map((key) => entry[key])));
    const known = byContent.get(content) ?? hasDifferentRules(sides, pair);
    byContent.set(content, known);
    return known;
  };
  return [...routesWithOtherSchemas(sides)].filter(isChanged).map((pair) => compareParameters(sides, pair));
});

/** Returns the key that differs, or `path` if only referenced schemas differ. */
function keyOf({ from, to }: MatchedRoutePair): string {
  return KEYS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

function hasDifferentRules({ old, next }: DiffContext, { from, to }: MatchedRoutePair): boolean {
  return KEYS.some((key) => {
    const [before, now] = [from.entry[key], to.entry[key]];
    if (before === undefined && now === undefined) return false;
    const isAlike =
      JSON.stringify(before) === JSON.stringify(now) && contentOf(old, from, key) === contentOf(next, to, key);
    return !isAlike && rulesOf(old, from, key) !== rulesOf(next, to, key);
  });
}

type ParameterKey = (typeof KEYS)[number];

function schemaPaths({ entry, path }: MatchedRoutePair['from'], key: ParameterKey): [name: string, path: Path][] {
  return Object.keys(entry[key]?.properties ?? {}).map((name) => [name, [...path, key, 'properties', name]]);
}

function contentOf({ schemas }: DiffSide, route: MatchedRoutePair['from'], key: ParameterKey): string {
  return schemaPaths(route, key)
    .map(([, path]) => schemaContent(schemas, path))
    .join('\n');
}

/** Serializes the rules for path parameters, the query or headers: two equal results accept the same requests. */
function rulesOf({ schemas }: DiffSide, route: MatchedRoutePair['from'], key: ParameterKey): string {
  // The names of path parameters do not matter, only their segments. Header names have several spellings.
  const keyOfName = (name: string) =>
    key === 'params' ? String(segmentOf(route, name)) : key === 'headers' ? foldHeaderName(name) : name;
  const { properties: _schemas, ...lists } = { properties: {}, ...route.entry[key] };
  const rest = Object.entries(lists).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((item) => keyOfName(String(item))).sort() : value,
  ]);
  const rules = schemaPaths(route, key).map(([name, path]) => [keyOfName(name), normalizeParameter(schemas, path)]);
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
  return { pair, looser, tighter, isCut };
}

function lengthOf({ url, headers = [] }: DiffRequest): number {
  return url.length + headers.join('').length;
}
