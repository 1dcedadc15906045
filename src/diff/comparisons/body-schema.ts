import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import { compareSchemas, type SchemaComparison } from '../schemas/compare-schemas.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const bodyLoosened: Comparison = {
  id: 'body-loosened',
  severity: 'warning',
  description: 'A body that was refused goes on: its schema says less, or there is none any more.',
  *find(sides) {
    for (const [pair, { looser }] of bodyComparisons(sides)) {
      if (pair.to.entry.body?.schema === undefined)
        yield findingAtKey(pair, 'body', 'has no schema for bodies any more', looser && { body: looser.value });
      else if (looser !== undefined)
        yield findingAtSchema(pair, 'lets bodies through that it refused', { body: looser.value });
    }
  },
};

export const bodyTightened: Comparison = {
  id: 'body-tightened',
  severity: 'info',
  description: 'A body that went on is refused: its schema says more, or there was none before.',
  *find(sides) {
    for (const [pair, { tighter }] of bodyComparisons(sides)) {
      if (pair.from.entry.body?.schema === undefined)
        yield findingAtKey(pair, 'body', 'has a schema for bodies now', tighter && { body: tighter.value });
      else if (tighter !== undefined)
        yield findingAtSchema(pair, 'refuses bodies that it let through', { body: tighter.value });
    }
  },
};

export const bodyChanged: Comparison = {
  id: 'body-changed',
  severity: 'warning',
  description: 'The schema of a body is written otherwise, and no body was found that shows what it means.',
  *find(sides): Generator<DiffFinding> {
    for (const [pair, { looser, tighter }] of bodyComparisons(sides)) {
      const hasBoth = [pair.from, pair.to].every(({ entry }) => entry.body?.schema !== undefined);
      if (hasBoth && looser === undefined && tighter === undefined)
        yield findingAtSchema(pair, 'has another schema for bodies; whether it lets more through is not known');
    }
  },
};

/** Told at the shared schema, where the route says what it said. */
function findingAtSchema(pair: MatchedRoutePair, message: string, witness?: DiffWitness): DiffFinding {
  const found = findingAtKey(pair, 'body', message, witness);
  const { from, to } = pair;
  const schema = to.entry.body?.schema;
  const name = typeof schema === 'object' ? SHARED.exec(String(schema['$ref']))?.[1] : undefined;
  const isElsewhere = name !== undefined && isDeepStrictEqual(from.entry.body, to.entry.body);
  return isElsewhere ? { ...found, path: ['schemas', name] } : found;
}

const SHARED = /^#\/schemas\/([^/]+)$/;

const comparisonCache = new WeakMap<DiffContext, readonly (readonly [MatchedRoutePair, SchemaComparison])[]>();

/** The pairs whose schemas differ, compared once for all who ask. */
function bodyComparisons(sides: DiffContext): readonly (readonly [MatchedRoutePair, SchemaComparison])[] {
  const before = comparisonCache.get(sides);
  if (before !== undefined) return before;
  const compared = [...matchedRoutes(sides)].flatMap((pair) => {
    const one = compareBodies(sides, pair);
    return one.isSame ? [] : [[pair, one] as const];
  });
  comparisonCache.set(sides, compared);
  return compared;
}

function compareBodies({ old, next }: DiffContext, { from, to }: MatchedRoutePair): SchemaComparison {
  const placed = (name: 'old' | 'new', side: DiffContext['old'], { path, entry }: MatchedRoutePair['from']) =>
    entry.body?.schema === undefined
      ? { ...ANYTHING, side: name }
      : { side: name, root: side.schemas, path: [...path, 'body', 'schema'], validatorAt: side.validatorAt };
  return compareSchemas(placed('old', old, from), placed('new', next, to));
}

/** What a route without a schema holds bodies to. */
const ANYTHING = {
  root: { schemas: { anything: true }, routes: [], files: {} },
  path: ['schemas', 'anything'],
  validatorAt: () => () => [],
};
