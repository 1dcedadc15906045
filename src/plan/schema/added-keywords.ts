import { _, type CodeKeywordDefinition, Name, nil, str } from 'ajv/dist/2020.js';
import { charge } from './cost-budget.ts';
import { currentValidation, type NumberComparison, noteInexactNumber } from './exact-numbers.ts';
import { INTERNAL_KEYWORDS } from './keywords.ts';

/** Of the generated code: the place of the value that the whole function validates. */
const INSTANCE_PATH = new Name('instancePath');

/** Pays for what a schema does to a value, before it is done: as much as the keyword says, and for the text's length. */
export const COST: CodeKeywordDefinition = {
  keyword: INTERNAL_KEYWORDS.cost,
  schemaType: 'number',
  code({ gen, data, schema }) {
    const pay = gen.scopeValue('func', { ref: charge });
    gen.code(_`${pay}(typeof ${data} == "string" ? ${schema} + (${data}.length >> 3) : ${schema})`);
  },
};

/**
 * Goes with every schema that compares numbers. A violation is noted, not returned: behind `not`, or in one branch of
 * several, an error would let the value pass.
 */
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
    const place = str`${INSTANCE_PATH}${it.errorPath}`;
    const about = _`${schemaValue}, ${data}, ${it.parentData}, ${it.parentDataProperty}, ${place}`;
    gen.if(_`${state}.inexact !== undefined${isRare}`, () =>
      gen.code(_`${note}(${about}, ${it.topSchemaRef}${it.schemaPath})`),
    );
  },
};
