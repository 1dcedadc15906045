import { _, type CodeKeywordDefinition, Name, str } from 'ajv/dist/2020.js';

/**
 * The keyword `unevaluatedItems: false`. ajv compares the length of the list with the number of evaluated items, also where
 * that is `true` because a branch has evaluated all of them: then it refuses every list of two items.
 */
export const UNEVALUATED_ITEMS: CodeKeywordDefinition = {
  keyword: 'unevaluatedItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: ({ params: { count } }) => str`must NOT have more than ${count} items` },
  code(context) {
    const { data, it } = context;
    const items = it.items ?? 0;
    it.items = true;
    if (context.schema === true || items === true) return;
    context.setParams({ count: items });
    const isLonger = _`${data}.length > ${items}`;
    context.fail(items instanceof Name ? _`${items} !== true && ${isLonger}` : isLonger);
  },
};
