import { _, type CodeKeywordDefinition, Name, nil, str } from 'ajv/dist/2020.js';
import { mergeEvaluated } from 'ajv/dist/compile/util.js';
import { charge } from './cost-budget.ts';
import { currentValidation, type NumberComparison, noteInexactNumber } from './exact-numbers.ts';
import { INTERNAL_KEYWORDS } from './keywords.ts';

/** A variable of the generated code: the location of the value that the function validates. */
const INSTANCE_PATH = 'instancePath';

/** Charges the cost of a schema before it validates a value: the keyword's number, and more for long texts. */
export const COST: CodeKeywordDefinition = {
  keyword: INTERNAL_KEYWORDS.cost,
  schemaType: 'number',
  code({ gen, data, schema }) {
    const chargeCost = gen.scopeValue('func', { ref: charge });
    gen.code(_`${chargeCost}(typeof ${data} == "string" ? ${schema} + (${data}.length >> 3) : ${schema})`);
  },
};

/** Added to schemas that compare numbers. It notes a violation instead of failing, which `not` or another branch would let pass. */
export const EXACT_NUMBERS: CodeKeywordDefinition = {
  keyword: INTERNAL_KEYWORDS.exactNumbers,
  schemaType: 'object',
  code({ gen, data, schema, schemaValue, it }) {
    const state = gen.scopeValue('obj', { ref: currentValidation });
    const note = gen.scopeValue('func', { ref: noteInexactNumber });
    const isLong = _`${data} > ${Number.MAX_SAFE_INTEGER} || ${data} < ${Number.MIN_SAFE_INTEGER}`;
    const isRare = (schema as NumberComparison).isIntegerOnly
      ? _` || (typeof ${data} == "number" && (${isLong}))`
      : nil;
    const location = str`${new Name(INSTANCE_PATH)}${it.errorPath}`;
    const args = _`${schemaValue}, ${data}, ${it.parentData}, ${it.parentDataProperty}, ${location}`;
    gen.if(_`${state}.inexact !== undefined${isRare}`, () =>
      gen.code(_`${note}(${args}, ${it.topSchemaRef}${it.schemaPath})`),
    );
  },
};

/**
 * Declares the variables in which ajv collects the members and items that keywords have evaluated. ajv declares them inside
 * of the first branch of `anyOf` or `oneOf` that needs them. If that branch does not match, `patternProperties` then
 * throws, and `unevaluatedItems` accepts every item.
 */
export const EVALUATED: CodeKeywordDefinition = {
  keyword: INTERNAL_KEYWORDS.evaluated,
  schemaType: 'boolean',
  before: '$ref',
  code({ gen, it }) {
    if (it.opts.unevaluated !== true) return;
    // Without a prototype, because a member may be named toString.
    it.props ??= gen.var('props', _`Object.create(null)`);
    it.items ??= gen.var('items', 0);
  },
};

/** The keyword `prefixItems`. ajv leaves its result undefined for a list without the first item with a schema, and skips later keywords. */
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
