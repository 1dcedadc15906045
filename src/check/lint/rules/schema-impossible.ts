import { findingAt, type Rule } from '../rule.ts';

export const schemaImpossible: Rule = {
  id: 'schema-impossible',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'No value is valid, so the gateway refuses every request that contains one.',
  *find({ schemas }) {
    for (const { schema, path, isCondition } of schemas)
      for (const { low, high } of BOUNDS) {
        const lower = schema[low];
        const upper = schema[high];
        if (isCondition || typeof lower !== 'number' || typeof upper !== 'number' || lower <= upper) continue;
        yield findingAt(
          [...path, low],
          `no value satisfies ${low} ${lower} and ${high} ${upper}; swap the two, or correct one`,
          {
            related: { path: [...path, high], message: 'the other bound' },
          },
        );
      }
  },
};

const BOUNDS = [
  { low: 'minLength', high: 'maxLength' },
  { low: 'minimum', high: 'maximum' },
  { low: 'minItems', high: 'maxItems' },
  { low: 'minProperties', high: 'maxProperties' },
];
