import { findingAt, type Rule } from '../rule.ts';
import { allowsType } from '../schema-nodes.ts';

export const arrayItemsOpen: Rule = {
  id: 'array-items-open',
  category: 'validation',
  severity: 'info',
  preset: 'strict',
  rationale: 'Without "items" the gateway validates the list but none of its items.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && allowsType(schema, 'array') && !ITEM_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword)))
        yield findingAt(path, 'this schema accepts any items; add items: with their schema');
  },
};

const ITEM_KEYWORDS = ['items', 'prefixItems', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
