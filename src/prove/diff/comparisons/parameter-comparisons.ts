import { isDeepStrictEqual } from 'node:util';
import { getOrCreate } from '../../../engine/get-or-create.ts';
import { foldHeaderName } from '../../../engine/header-names.ts';
import { normalizeParameter, PARAMETER_KINDS, type ParameterKind } from '../../schema-comparison/parameter-texts.ts';
import type { Comparison, DiffRequest, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffRoute } from '../side.ts';
import { literalAt, sampleRequests, segmentOf } from '../witnesses/sample-requests.ts';
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
    const isChanged = new Map<string, boolean>();
    for (const pair of routesWithOtherSchemas(sides)) {
      const content = JSON.stringify([pair.from, pair.to].map(({ entry }) => PARAMETER_KINDS.map((key) => entry[key])));
      if (!getOrCreate(isChanged, content, () => hasDifferentRules(pair))) continue;
      const { looser, tighter, isCut } = compareParameters(pair);
      const finding = (rule: string, message: string, request?: DiffRequest) =>
        findingAtKey(pair, rule, keyOf(pair), message, request && { request });
      const reason = isCut
        ? 'the search for a request that shows the effect was cut short'
        : 'no sample request shows the effect';
      if (looser !== undefined)
        yield finding('parameters-loosened', 'now accepts parameters that it refused before', looser);
      if (tighter !== undefined)
        yield {
          ...finding('parameters-tightened', 'now refuses parameters that it accepted before', tighter),
          isOpen: isCut,
        };
      if (looser === undefined && tighter === undefined && !(hasLiteralRules(pair) && !isCut))
        yield finding('parameters-changed', `has different rules for parameters, and ${reason}`);
    }
  },
};

/** Returns the key that differs, or `path` if only referenced schemas differ. */
function keyOf({ from, to }: MatchedRoutePair): string {
  return PARAMETER_KINDS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

/** True if the rules differ only in path parameters that are literals in the path of the other route: their samples are complete. */
function hasLiteralRules(pair: MatchedRoutePair): boolean {
  const { from, to } = pair;
  if (PARAMETER_KINDS.some((key) => key !== 'params' && rulesOf(from, key) !== rulesOf(to, key))) return false;
  return [from, to].every((route) =>
    Object.keys(route.entry.params?.properties ?? {}).every(
      (name) => literalAt(pair, segmentOf(route, name)) !== undefined,
    ),
  );
}

function hasDifferentRules({ from, to }: MatchedRoutePair): boolean {
  const isPresent = (key: ParameterKind) => (from.entry[key] ?? to.entry[key]) !== undefined;
  return PARAMETER_KINDS.some((key) => isPresent(key) && rulesOf(from, key) !== rulesOf(to, key));
}

/** Serializes the rules for path parameters, the query or headers: two equal results accept the same requests. */
function rulesOf(route: DiffRoute, key: ParameterKind): string {
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
    normalizeParameter(route.side.schemas, [...route.path, key, 'properties', name]),
  ]);
  return JSON.stringify([rest.sort(), rules.sort()]);
}

/** Returns the shortest sample requests that only one of two routes accepts. */
function compareParameters(pair: MatchedRoutePair) {
  const { requests, isCut } = sampleRequests(pair);
  const sorted = requests.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const acceptedOnlyBy = (one: DiffRoute, other: DiffRoute) =>
    sorted.find((request) => hasValidParameters(one, request) && !hasValidParameters(other, request));
  return { looser: acceptedOnlyBy(pair.to, pair.from), tighter: acceptedOnlyBy(pair.from, pair.to), isCut };
}

function lengthOf({ url, headers = [] }: DiffRequest): number {
  return url.length + headers.join('').length;
}
