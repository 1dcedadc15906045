import { termOf } from '../../schema-comparison/compare-schemas.ts';
import { findValues } from '../../schema-comparison/find-values.ts';
import type { DiffContext, DiffRequest, MatchedRoutePair } from '../difference.ts';
import { sampleRequests } from './sample-requests.ts';

/** Returns requests that both routes receive, with different parameters. */
export function parameterRequests(sides: DiffContext, pair: MatchedRoutePair): readonly DiffRequest[] {
  return sampleRequests(sides, pair).requests;
}

/** Returns values that are valid for the schemas of both routes. */
export function jsonBodies({ old, next }: DiffContext, { from, to }: MatchedRoutePair): readonly unknown[] {
  const routes = [
    [old, from],
    [next, to],
  ] as const;
  const terms = routes.flatMap(([{ schemas: root }, { path, entry }]) =>
    entry.body?.schema === undefined ? [] : [termOf({ root, path: [...path, 'body', 'schema'] }, true)],
  );
  return terms.length === 0 ? [{}] : findValues(terms, 10).values;
}
