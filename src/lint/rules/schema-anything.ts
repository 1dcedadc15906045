import { findingAt, type Rule } from '../rule.ts';

export const schemaAnything: Rule = {
  id: 'schema-anything',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The body is read whole and parsed, and then anything passes: that costs time and memory, and protects from nothing but broken JSON.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      const schema = entry.body?.schema;
      const isEmpty = schema === true || (typeof schema === 'object' && Object.keys(schema).length === 0);
      if (isEmpty)
        yield findingAt(
          [...path, 'body', 'schema'],
          'any JSON fits this; say what the body may be, or leave "schema" out',
        );
    }
  },
};
