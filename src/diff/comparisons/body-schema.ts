import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import { compareSchemas, type SchemaComparison } from '../schemas/compare-schemas.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const bodyLoosened: Comparison = {
  id: 'body-loosened',
  severity: 'warning',
  description: 'The gateway now accepts a body that it refused before: the schema is less strict, or was removed.',
  *find(sides) {
    for (const [pair, { looser }] of bodyComparisons(sides)) {
      if (pair.to.entry.body?.schema === undefined)
        yield findingAtKey(pair, 'body', 'no longer has a schema for bodies', looser && { body: looser.value });
      else if (looser !== undefined)
        yield findingAtSchema(pair, 'now accepts bodies that it refused before', { body: looser.value });
    }
  },
};

export const bodyTightened: Comparison = {
  id: 'body-tightened',
  severity: 'info',
  description: 'The gateway now refuses a body that it accepted before: the schema is stricter, or new.',
  *find(sides) {
    for (const [pair, { tighter }] of bodyComparisons(sides)) {
      if (pair.from.entry.body?.schema === undefined)
        yield findingAtKey(pair, 'body', 'now has a schema for bodies', tighter && { body: tighter.value });
      else if (tighter !== undefined)
        yield findingAtSchema(pair, 'now refuses bodies that it accepted before', { body: tighter.value });
    }
  },
};

export const bodyChanged: Comparison = {
  id: 'body-changed',
  severity: 'warning',
  description: 'The schema of a body changed, and no sample body shows the effect.',
  *find(sides): Generator<DiffFinding> {
    for (const [pair, { looser, tighter }] of bodyComparisons(sides)) {
      const hasBoth = [pair.from, pair.to].every(({ entry }) => entry.body?.schema !== undefined);
      if (hasBoth && looser === undefined && tighter === undefined)
        yield findingAtSchema(pair, 'has a different schema for bodies, and no sample body shows the effect');
    }
  },
};

/** Returns a finding at the body, or at the shared schema if only that schema changed. */
function findingAtSchema(pair: MatchedRoutePair, message: string, witness?: DiffWitness): DiffFinding {
  const finding = findingAtKey(pair, 'body', message, witness);
  const { from, to } = pair;
  const schema = to.entry.body?.schema;
  const name = typeof schema === 'object' ? SHARED_REFERENCE.exec(String(schema['$ref']))?.[1] : undefined;
  const isSharedChange = name !== undefined && isDeepStrictEqual(from.entry.body, to.entry.body);
  return isSharedChange ? { ...finding, path: ['schemas', name] } : finding;
}

const SHARED_REFERENCE = /^#\/schemas\/([^/]+)$/;

const comparisonCache = new WeakMap<DiffContext, readonly (readonly [MatchedRoutePair, SchemaComparison])[]>();

/** Returns the pairs whose schemas differ. The three comparisons share the result. */
function bodyComparisons(sides: DiffContext): readonly (readonly [MatchedRoutePair, SchemaComparison])[] {
  const cached = comparisonCache.get(sides);
  if (cached !== undefined) return cached;
  // Thousands of routes may have the same schema, and a comparison validates hundreds of samples.
  const byContent = new Map<string, SchemaComparison>();
  const comparisons = [...matchedRoutes(sides)].flatMap((pair) => {
    const content = JSON.stringify([pair.from, pair.to].map(({ entry }) => entry.body?.schema));
    const comparison = byContent.get(content) ?? compareBodies(sides, pair);
    byContent.set(content, comparison);
    return comparison.isSame ? [] : [[pair, comparison] as const];
  });
  comparisonCache.set(sides, comparisons);
  return comparisons;
}

function compareBodies({ old, next }: DiffContext, { from, to }: MatchedRoutePair): SchemaComparison {
  const locate = (name: 'old' | 'new', side: DiffContext['old'], { path, entry }: MatchedRoutePair['from']) =>
    entry.body?.schema === undefined
      ? { ...ANYTHING, side: name }
      : { side: name, root: side.schemas, path: [...path, 'body', 'schema'], validatorAt: side.validatorAt };
  return compareSchemas(locate('old', old, from), locate('new', next, to));
}

/** The schema of a route without a schema: it accepts every body. */
const ANYTHING = {
  root: { schemas: { anything: true }, routes: [], files: {} },
  path: ['schemas', 'anything'],
  validatorAt: () => () => [],
};
