import type { Compared } from './exact-numbers.ts';
import type { SchemaRoot } from './schema-files.ts';
import { changeSchemas, isMap } from './schema-walk.ts';

const NUMERIC = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const NUMBER_FORMATS = new Set(['int32', 'int64', 'float', 'double']);

/** A copy of all schemas in which each says what it costs, and each that compares numbers says so. */
export function withAddedKeywords({ schemas, routes, files }: SchemaRoot): SchemaRoot {
  return {
    schemas: changeSchemas(schemas, withKeywords, true),
    routes: changeSchemas(routes, withKeywords),
    files: changeSchemas(files, withKeywords, true),
  };
}

function withKeywords(schema: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(schema);
  if (keys.length === 0) return schema;
  const exact = comparedBy(schema);
  return { ...schema, effort: effortOf(schema), ...(exact === undefined ? {} : { exact }) };
}

/** Grows with every value, name and branch that the schema itself lists; what is inside of those pays for itself. */
function effortOf(schema: Record<string, unknown>): number {
  let effort = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const isData = keyword === 'enum' || keyword === 'const';
    if (isData) effort += Math.ceil(JSON.stringify(value)?.length / 8);
    else if (Array.isArray(value)) effort += BRANCH * value.length;
    else if (isMap(value)) effort += Object.keys(value).length;
  }
  return effort;
}

/** A branch that fails makes an error. */
const BRANCH = 6;

function comparedBy({
  type,
  const: value,
  enum: values,
  uniqueItems,
  format,
  ...rest
}: Record<string, unknown>): Compared | undefined {
  const integers = [type].flat().includes('integer');
  const insides = uniqueItems === true || holdsNumber([value, values]);
  const isNumeric = NUMERIC.some((keyword) => keyword in rest) || NUMBER_FORMATS.has(String(format));
  return integers || insides || isNumeric ? { integers, insides } : undefined;
}

function holdsNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return value !== null && typeof value === 'object' && Object.values(value).some(holdsNumber);
}
