import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { mergeEvaluated } from 'ajv/dist/compile/util.js';

/**
 * The keyword `prefixItems`. The code that ajv generates leaves its result undefined for a list without the first item
 * that has a schema, and then skips the keywords after it, such as `contains` and `uniqueItems`.
 */
export const PREFIX_ITEMS: CodeKeywordDefinition = {
  keyword: 'prefixItems',
  type: 'array',
  schemaType: 'array',
  before: 'items',
  code(context) {
    const { gen, data, it } = context;
    const schemas: readonly unknown[] = context.schema;
    if (it.opts.unevaluated && it.items !== true) it.items = mergeEvaluated.items(gen, schemas.length, it.items);
    const isValid = gen.name('valid');
    gen.var(isValid, true);
    const mayContinue = context.allErrors ? _`true` : isValid;
    // Nested code would overflow the stack if thousands of items have a schema.
    for (const index of schemas.keys())
      gen.if(_`${mayContinue} && ${data}.length > ${index}`, () => {
        context.subschema({ keyword: 'prefixItems', schemaProp: index, dataProp: index }, isValid);
      });
    context.ok(isValid);
  },
};
