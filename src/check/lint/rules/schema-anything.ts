import { findingAt, type Rule } from '../rule.ts';

export const schemaAnything: Rule = {
  id: 'schema-anything',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The gateway buffers and parses the body but accepts any content: this costs time and memory, and rejects only malformed JSON.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      const schema = entry.body?.schema;
      const isEmpty = schema === true || (typeof schema === 'object' && Object.keys(schema).length === 0);
      if (isEmpty)
        yield findingAt(
          [...path, 'body', 'schema'],
          'this schema accepts any JSON; describe the body, or remove "schema"',
        );
    }
  },
};
