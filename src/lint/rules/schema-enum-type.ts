import { findingAt, type Rule } from '../rule.ts';
import type { Schema } from '../schema-nodes.ts';

export const schemaEnumType: Rule = {
  id: 'schema-enum-type',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A value of another type than "type" says can never be sent; in YAML it mostly lacks its quotes.',
  *find({ schemas }) {
    for (const { schema, path } of schemas) {
      const types = [schema['type']].flat().filter((type) => typeof type === 'string');
      if (types.length === 0) continue;
      for (const { value, at: place } of enumValues(schema)) {
        if (types.some((type) => hasType(value, type))) continue;
        const quotes = types.includes('string') && value !== null ? '; put it in quotes' : '; correct it, or remove it';
        yield findingAt(
          [...path, ...place],
          `${JSON.stringify(value)} is no ${types.join(' and no ')}, and can never be sent${quotes}`,
        );
      }
    }
  },
};

function* enumValues(schema: Schema): Generator<{ value: unknown; at: (string | number)[] }> {
  const { enum: values } = schema;
  if (Array.isArray(values)) for (const [index, value] of values.entries()) yield { value, at: ['enum', index] };
  if (Object.hasOwn(schema, 'const')) yield { value: schema['const'], at: ['const'] };
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
