import type { SchemaRoot } from './schema-files.ts';
import { changeSchemas } from './schema-walk.ts';

/**
 * The keyword that goes with every `type: integer`. Beyond 2^53 two integers that differ in the text are one
 * number to most parsers (RFC 8259 section 6), so the upstream could read another one than was checked.
 */
export const SURVIVES = {
  keyword: 'survives',
  type: 'number',
  schemaType: 'boolean',
  validate: (_schema: boolean, value: number) => !Number.isInteger(value) || Number.isSafeInteger(value),
  error: { message: 'must be an integer between -2^53 and 2^53' },
} as const;

/** A copy in which every schema of an integer has the keyword. */
export function withSurvivingIntegers({ schemas, routes, files }: SchemaRoot): SchemaRoot {
  return {
    schemas: changeSchemas(schemas, withKeyword, true),
    routes: changeSchemas(routes, withKeyword),
    files: changeSchemas(files, withKeyword, true),
  };
}

function withKeyword(schema: Record<string, unknown>): Record<string, unknown> {
  return [schema['type']].flat().includes('integer') ? { ...schema, [SURVIVES.keyword]: true } : schema;
}
