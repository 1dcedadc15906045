import { suggestion } from '../../../engine/problem/did-you-mean.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { findingAt, rulesOf } from '../rule.ts';
import type { Schema } from '../schema-nodes.ts';

/** Rules for schemas that contradict themselves. */
export const WRONG_SCHEMA_RULES = rulesOf('validation', {
  'schema-enum-type': {
    level: ['warning', 'minimal'],
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
  },
  'schema-impossible': {
    level: ['warning', 'minimal'],
    rationale: 'No value is valid, so the gateway refuses every request that contains one.',
    *find({ schemas }) {
      for (const { schema, path, isCondition } of schemas)
        for (const { low, high } of BOUNDS) {
          const lower = schema[low];
          const upper = schema[high];
          if (isCondition || typeof lower !== 'number' || typeof upper !== 'number' || lower <= upper) continue;
          const message = `no value satisfies ${low} ${lower} and ${high} ${upper}; swap the two, or correct one`;
          yield findingAt([...path, low], message, {
            related: { path: [...path, high], message: 'the other bound' },
          });
        }
    },
  },
  'schema-required-unknown': {
    level: ['warning', 'minimal'],
    rationale:
      'A required member that the schema does not describe is usually misspelled: the gateway refuses every valid body, or does not validate the intended member.',
    *find({ schemas }) {
      for (const { schema, path, isInPlace, isCondition } of schemas) {
        const { properties, required, patternProperties } = schema;
        if (isInPlace || isCondition || patternProperties !== undefined) continue;
        if (!isMap(properties) || !Array.isArray(required)) continue;
        const names = Object.keys(properties);
        for (const [index, name] of required.entries())
          if (!names.includes(name))
            yield findingAt(
              [...path, 'required', index],
              `"${name}" is required but missing from "properties"${suggestion(name, names)}`,
            );
      }
    },
  },
});

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

const BOUNDS = [
  { low: 'minLength', high: 'maxLength' },
  { low: 'minimum', high: 'maximum' },
  { low: 'minItems', high: 'maxItems' },
  { low: 'minProperties', high: 'maxProperties' },
];
