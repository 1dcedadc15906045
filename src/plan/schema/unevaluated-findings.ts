import { errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, keywordsOf, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';

/**
 * Reports `unevaluatedProperties` and `unevaluatedItems` in schemas where ajv forgets which members or items other keywords
 * have validated, so that it would accept invalid values or refuse valid ones.
 */
export function* unevaluatedFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    if (key !== 'unevaluatedItems' && key !== 'unevaluatedProperties') continue;
    const schemas = [...schemasInPlace(root, at.slice(0, -1))];
    const hasHalfIf = schemas.some(
      (schema) => Object.hasOwn(schema, 'if') && (isEmpty(schema['then']) || isEmpty(schema['else'])),
    );
    if (hasHalfIf)
      yield errorAtKey(
        at,
        RULE,
        `"${key}" is not validated correctly beside an "if" without a non-empty "then" and "else"; write both`,
      );
    if (key === 'unevaluatedProperties') continue;
    if (typeof value !== 'boolean')
      yield errorAtKey(
        at,
        RULE,
        '"unevaluatedItems" is not validated correctly with a schema; write false, or "items"',
      );
    if (schemas.some((schema) => Object.hasOwn(schema, 'contains')))
      yield errorAtKey(at, RULE, '"unevaluatedItems" is not validated correctly beside "contains"; write "items"');
  }
}

/** Yields the schema at a path and all that validate the same value. */
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
