import type { NumberComparison } from './exact-numbers.ts';
import { INTERNAL_KEYWORDS, keywordsWith } from './keywords.ts';
import { containsNumber, NUMBER_FORMATS } from './own-keywords.ts';
import { isMap, mapSchemas } from './schema-walk.ts';

const EVALUATING = ['patternProperties', 'unevaluatedItems', 'unevaluatedProperties'];
const NUMERIC = keywordsWith({ type: 'number' });

/** Returns a copy of a schema for ajv: every schema in it has its cost, its number comparisons if it has any, and renamed references. */
export function withAddedKeywords(schema: unknown, rename: (reference: string) => string): unknown {
  return mapSchemas(schema, (inside) => {
    const { $ref: reference } = inside;
    return withKeywords(typeof reference === 'string' ? { ...inside, $ref: rename(reference) } : inside);
  });
}

function withKeywords(schema: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(schema);
  if (keys.length === 0) return schema;
  const comparison = comparisonOf(schema);
  return {
    ...schema,
    [INTERNAL_KEYWORDS.cost]: costOf(schema),
    ...(comparison && { [INTERNAL_KEYWORDS.exactNumbers]: comparison }),
    ...(EVALUATING.some((keyword) => Object.hasOwn(schema, keyword)) && { [INTERNAL_KEYWORDS.evaluated]: true }),
    // Without a maximum, ajv keeps the result of `contains` from the list before, if a list is empty.
    ...(Object.hasOwn(schema, 'contains') && !Object.hasOwn(schema, 'maxContains') && { maxContains: UNLIMITED }),
  };
}

/** The added `maxContains`: no list has as many items. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Returns the cost of a schema by the values, names and branches that it lists. Subschemas are charged separately. */
function costOf(schema: Record<string, unknown>): number {
  let cost = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const isData = keyword === 'enum' || keyword === 'const';
    if (isData) cost += Math.ceil(JSON.stringify(value)?.length / 8);
    else if (Array.isArray(value)) cost += BRANCH_COST * value.length;
    else if (isMap(value)) cost += Object.keys(value).length;
  }
  return cost;
}

/** The cost of a branch: a branch that fails creates an error. */
const BRANCH_COST = 6;

function comparisonOf(schema: Record<string, unknown>): NumberComparison | undefined {
  const { type, const: value, enum: values, uniqueItems, format } = schema;
  const isIntegerOnly = [type].flat().includes('integer');
  const hasNestedNumbers = uniqueItems === true || containsNumber([value, values]);
  const isNumeric = NUMERIC.some((keyword) => keyword in schema) || Object.hasOwn(NUMBER_FORMATS, String(format));
  return isIntegerOnly || hasNestedNumbers || isNumeric ? { isIntegerOnly, hasNestedNumbers } : undefined;
}
