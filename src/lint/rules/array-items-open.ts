import { findingAt, type Rule } from '../rule.ts';
import { allowsType } from '../schema-nodes.ts';

export const arrayItemsOpen: Rule = {
  id: 'array-items-open',
  category: 'validation',
  severity: 'info',
  preset: 'strict',
  rationale: 'Without "items" the list is judged and nothing in it is.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && allowsType(schema, 'array') && !SAYING.some((keyword) => Object.hasOwn(schema, keyword)))
        yield findingAt(path, 'items of this list may be anything; add items: with what they may be');
  },
};

const SAYING = ['items', 'prefixItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
