import { errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, keywordsOf, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';

/**
 * Tells of `unevaluatedProperties` and `unevaluatedItems` where the validator forgets what another keyword has
 * judged, so that it would let through what must not be, or refuse what may.
 */
export function* unevaluatedFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    if (key !== 'unevaluatedItems' && key !== 'unevaluatedProperties') continue;
    const beside = [...schemasInPlace(root, at.slice(0, -1))];
    const hasHalfIf = beside.some(
      (schema) => Object.hasOwn(schema, 'if') && (isEmpty(schema['then']) || isEmpty(schema['else'])),
    );
    if (hasHalfIf)
      yield errorAtKey(
        at,
        RULE,
        `"${key}" is not judged rightly beside an "if" without both "then" and "else" that say something; write both`,
      );
    if (key === 'unevaluatedProperties') continue;
    if (typeof value !== 'boolean')
      yield errorAtKey(at, RULE, '"unevaluatedItems" is not judged rightly with a schema; write false, or "items"');
    if (beside.some((schema) => Object.hasOwn(schema, 'contains')))
      yield errorAtKey(at, RULE, '"unevaluatedItems" is not judged rightly beside "contains"; write "items"');
  }
}

/** The schema at a path, and all that judge the same value. */
function* schemasInPlace(root: SchemaRoot, path: Path, seen = new Set<unknown>()): Generator<Record<string, unknown>> {
  const schema = valueAt(root, path);
  if (!isMap(schema) || seen.has(schema)) return;
  seen.add(schema);
  yield schema;
  for (const { path: at } of inPlaceSchemasOf(root, path)) yield* schemasInPlace(root, at, seen);
}

function isEmpty(schema: unknown): boolean {
  return schema === undefined || schema === true || (isMap(schema) && Object.keys(schema).length === 0);
}
