import type { DiffContext, DiffRequest, MatchedRoutePair } from '../difference.ts';
import type { SchemaLocation } from '../schemas/compare-schemas.ts';
import { sampleRequests } from '../schemas/sample-requests.ts';
import { sampleValues } from '../schemas/sample-values.ts';

/** Returns requests that both routes receive, with different parameters. */
export function parameterRequests(sides: DiffContext, pair: MatchedRoutePair): readonly DiffRequest[] {
  return sampleRequests(sides, pair);
}

/** Returns values for the schemas of both routes; some of them are valid. */
export function jsonBodies({ old, next }: DiffContext, { from, to }: MatchedRoutePair): readonly unknown[] {
  const routes = [
    ['old', old, from],
    ['new', next, to],
  ] as const;
  const schemas = routes.flatMap(([side, { schemas: root, validatorAt }, { path, entry }]): SchemaLocation[] =>
    entry.body?.schema === undefined ? [] : [{ side, root, path: [...path, 'body', 'schema'], validatorAt }],
  );
  return schemas.length === 0 ? [{}] : sampleValues(schemas);
}
