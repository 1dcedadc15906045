import { findingAt, type Rule } from '../rule.ts';

export const schemaImpossible: Rule = {
  id: 'schema-impossible',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'No value fits, so every request that sends one is refused.',
  *find({ schemas }) {
    for (const { schema, path, isCondition } of schemas)
      for (const [low, high] of BOUNDS) {
        const [least, most] = [schema[low], schema[high]];
        if (isCondition || typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
        yield findingAt(
          [...path, low],
          `nothing is as much as ${least} and at most ${most}; exchange ${low} and ${high}, or correct one`,
          {
            related: { path: [...path, high], message: 'the other bound' },
          },
        );
      }
  },
};

const BOUNDS = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;
