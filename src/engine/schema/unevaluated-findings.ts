import { errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isMap, type LocatedSchema, schemasInPlace } from './schema-walk.ts';

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
      if (Object.hasOwn(schema, key)) findings.push(...keywordFindings(root, key, schema[key], at));
  return findings;
}

function* keywordFindings(root: SchemaRoot, key: string, value: unknown, path: Path): Generator<Finding> {
  const schemas = schemasInPlace(root, path, () => true).map(({ schema }) => schema);
  const at = [...path, key];
  const wrong = `"${key}" is not validated correctly`;
  const isHalf = (schema: Record<string, unknown>) =>
    Object.hasOwn(schema, 'if') && (isEmpty(schema['then']) || isEmpty(schema['else']));
  if (schemas.some(isHalf))
    yield errorAtKey(at, RULE, `${wrong} beside an "if" without a non-empty "then" and "else"; write both`);
  if (key === 'unevaluatedProperties') return;
  if (typeof value !== 'boolean') yield errorAtKey(at, RULE, `${wrong} with a schema; write false, or "items"`);
  if (schemas.some((schema) => Object.hasOwn(schema, 'contains')))
    yield errorAtKey(at, RULE, `${wrong} beside "contains"; write "items"`);
}

function isEmpty(schema: unknown): boolean {
  return schema === undefined || schema === true || (isMap(schema) && Object.keys(schema).length === 0);
}
