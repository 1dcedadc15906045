import { findingAt, type Rule } from '../rule.ts';
import { allowsType } from '../schema-nodes.ts';

export const arrayUnbounded: Rule = {
  id: 'array-unbounded',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'A small body can hold a very large number of items, and the upstream may send a mail or query a database for each.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && allowsType(schema, 'array') && !BOUNDS.some((keyword) => Object.hasOwn(schema, keyword)))
        yield findingAt(path, 'this list has no limit on the number of items; add maxItems:');
  },
};

const BOUNDS = ['maxItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
