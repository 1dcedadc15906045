import { at, type Rule } from '../rule.ts';
import { allows } from '../schema-nodes.ts';

export const arrayItemsOpen: Rule = {
  id: 'array-items-open',
  family: 'validation',
  severity: 'info',
  preset: 'strict',
  why: 'Without "items" the list is judged and nothing in it is.',
  *find({ schemas }) {
    for (const { schema, path, isPart } of schemas)
      if (!isPart && allows(schema, 'array') && !SAYING.some((keyword) => Object.hasOwn(schema, keyword)))
        yield at(path, 'items of this list may be anything; add items: with what they may be');
  },
};

const SAYING = ['items', 'prefixItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
