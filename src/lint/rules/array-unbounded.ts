import { findingAt, type Rule } from '../rule.ts';
import { allowsType } from '../schema-nodes.ts';

export const arrayUnbounded: Rule = {
  id: 'array-unbounded',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'A short body can hold very many short items, and the upstream may do something for each: send a mail, ask a database.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && allowsType(schema, 'array') && !BOUNDS.some((keyword) => Object.hasOwn(schema, keyword)))
        yield findingAt(path, 'this list may have any number of items; add maxItems:');
  },
};

const BOUNDS = ['maxItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
