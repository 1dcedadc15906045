import { findingAt, type Rule } from '../rule.ts';
import type { Schema } from '../schema-nodes.ts';

export const schemaEnumType: Rule = {
  id: 'schema-enum-type',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A value whose type is not in "type" can never match; in YAML it usually lacks quotes.',
  *find({ schemas }) {
    for (const { schema, path } of schemas) {
      if (!Object.hasOwn(schema, 'enum') && !Object.hasOwn(schema, 'const')) continue;
      const types = [schema['type']].flat().filter((type) => typeof type === 'string');
      if (types.length === 0) continue;
      for (const { value, steps } of enumValues(schema)) {
        if (types.some((type) => hasType(value, type))) continue;
        const remedy = types.includes('string') && value !== null ? 'quote it' : 'correct it, or remove it';
        yield findingAt(
          [...path, ...steps],
          `${JSON.stringify(value)} is not of type ${types.join(' or ')}, so it can never match; ${remedy}`,
        );
      }
    }
  },
};

function* enumValues(schema: Schema): Generator<{ value: unknown; steps: (string | number)[] }> {
  const { enum: values } = schema;
  if (Array.isArray(values)) for (const [index, value] of values.entries()) yield { value, steps: ['enum', index] };
  if (Object.hasOwn(schema, 'const')) yield { value: schema['const'], steps: ['const'] };
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
