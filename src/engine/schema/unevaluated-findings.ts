import { valueAt } from '../json-pointer.ts';
import { errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, type LocatedSchema } from './schema-walk.ts';

const RULE = 'body-schema';
const KEYWORDS = ['unevaluatedItems', 'unevaluatedProperties'] as const;

/**
 * Finds `unevaluatedProperties` and `unevaluatedItems` in schemas where ajv forgets which members or items other keywords
 * have validated, so that it would accept invalid values or refuse valid ones.
 *
 * @param located a schema and its subschemas
 */
export function unevaluatedFindings(root: SchemaRoot, located: readonly LocatedSchema[]): Finding[] {
  const findings: Finding[] = [];
  for (const { schema, at } of located)
    for (const key of KEYWORDS)
      if (Object.hasOwn(schema, key)) findings.push(...keywordFindings(root, key, schema, at));
  return findings;
}

function* keywordFindings(
  root: SchemaRoot,
  key: (typeof KEYWORDS)[number],
  { [key]: value }: Record<string, unknown>,
  path: Path,
): Generator<Finding> {
  const at = [...path, key];
  const schemas = [...schemasInPlace(root, path)];
  const hasHalfIf = schemas.some(
    (schema) => Object.hasOwn(schema, 'if') && (isEmpty(schema['then']) || isEmpty(schema['else'])),
  );
  if (hasHalfIf)
    yield errorAtKey(
      at,
      RULE,
      `"${key}" is not validated correctly beside an "if" without a non-empty "then" and "else"; write both`,
    );
  if (key === 'unevaluatedProperties') return;
  if (typeof value !== 'boolean')
    yield errorAtKey(at, RULE, '"unevaluatedItems" is not validated correctly with a schema; write false, or "items"');
  if (schemas.some((schema) => Object.hasOwn(schema, 'contains')))
    yield errorAtKey(at, RULE, '"unevaluatedItems" is not validated correctly beside "contains"; write "items"');
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
