import { isDeepStrictEqual } from 'node:util';
import type { Comparison, Request, Sides } from '../difference.ts';
import { normalText } from '../schemas/normal.ts';
import { requestsFor } from '../schemas/requests.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const parametersLoosened: Comparison = {
  id: 'parameters-loosened',
  severity: 'warning',
  what: 'A request that was refused for its path, its query or a header goes on.',
  *find(sides) {
    for (const { pair, looser } of comparedParameters(sides))
      if (looser !== undefined)
        yield atKey(pair, keyOf(pair), 'lets parameters through that it refused', { request: looser });
  },
};

export const parametersTightened: Comparison = {
  id: 'parameters-tightened',
  severity: 'info',
  what: 'A request that went on is refused for its path, its query or a header.',
  *find(sides) {
    for (const { pair, tighter } of comparedParameters(sides))
      if (tighter !== undefined)
        yield atKey(pair, keyOf(pair), 'refuses parameters that it let through', { request: tighter });
  },
};

export const parametersChanged: Comparison = {
  id: 'parameters-changed',
  severity: 'warning',
  what: 'What parameters must be is written otherwise, and no request was found that shows what it means.',
  *find(sides) {
    for (const { pair, looser, tighter } of comparedParameters(sides))
      if (looser === undefined && tighter === undefined)
        yield atKey(pair, keyOf(pair), 'has other rules for parameters; whether they let more through is not known');
  },
};

const KEYS = ['params', 'query', 'headers'] as const;

interface Compared {
  readonly pair: Succession;
  readonly looser: Request | undefined;
  readonly tighter: Request | undefined;
}

const known = new WeakMap<Sides, readonly Compared[]>();

/** The pairs whose rules differ, with requests that show it, compared once for all who ask. */
function comparedParameters(sides: Sides): readonly Compared[] {
  const before = known.get(sides);
  if (before !== undefined) return before;
  const compared = [...successions(sides)]
    .filter((pair) => hasOtherRules(sides, pair))
    .map((pair) => compare(sides, pair));
  known.set(sides, compared);
  return compared;
}

/** The key that differs, where it can be told. */
function keyOf({ from, to }: Succession): string {
  return KEYS.find((key) => !isDeepStrictEqual(from.entry[key], to.entry[key])) ?? 'path';
}

function hasOtherRules({ old, next }: Sides, { from, to }: Succession): boolean {
  return KEYS.some((key) => {
    const text = (side: Sides['old'], { entry, path }: Succession['from']) => {
      const { properties = {}, ...rest } = entry[key] ?? {};
      const schemas = Object.keys(properties).map((name) => [
        name,
        normalText(side.schemas, [...path, key, 'properties', name]),
      ]);
      return JSON.stringify([entry[key] === undefined, rest, schemas.sort()]);
    };
    return text(old, from) !== text(next, to);
  });
}

function compare(sides: Sides, pair: Succession): Compared {
  const fits = ({ route }: Succession['from'], { url, headers = [] }: Request) => {
    const [path = '', query = ''] = url.split(/(?=\?)/, 2);
    return (route.parameters?.validate(path, query, headers) ?? []).length === 0;
  };
  let looser: Request | undefined;
  let tighter: Request | undefined;
  const requests = requestsFor(sides, pair).sort((a, b) => a.url.length - b.url.length);
  for (const request of requests) {
    const [before, now] = [fits(pair.from, request), fits(pair.to, request)];
    if (now && !before) looser ??= request;
    if (before && !now) tighter ??= request;
  }
  return { pair, looser, tighter };
}
