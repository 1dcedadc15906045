import { at, type Rule } from '../rule.ts';
import { allows } from '../schema-nodes.ts';

export const arrayUnbounded: Rule = {
  id: 'array-unbounded',
  family: 'validation',
  severity: 'info',
  preset: 'recommended',
  why: 'A short body can hold very many short items, and the upstream may do something for each: send a mail, ask a database.',
  *find({ schemas }) {
    for (const { schema, path, isPart } of schemas)
      if (!isPart && allows(schema, 'array') && !BOUNDS.some((keyword) => Object.hasOwn(schema, keyword)))
        yield at(path, 'this list may have any number of items; add maxItems:');
  },
};

const BOUNDS = ['maxItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
