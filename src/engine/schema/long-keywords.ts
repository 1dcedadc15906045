import { _, type Ajv2020, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv/dist/2020.js';
import { isMap } from './schema-walk.ts';

/** Keywords of which every entry must hold. */
const CONJUNCTIONS = ['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'allOf'];
/** A variable of the generated code: the number of errors so far. */
const ERRORS = new Name('errors');
/** The entries for which ajv generates nested code. */
const MAX_NESTED = 50;

/** Makes ajv generate flat code for long keywords: nested code overflows the stack, or takes seconds to compile. */
export function flattenLongKeywords(ajv: Ajv2020): void {
  for (const keyword of CONJUNCTIONS)
    replaceCode(ajv, keyword, (context, generate) => {
      const parts = context.allErrors ? [] : partsOf(context.schema);
      if (parts.length < 2) generate(context);
      else generateParts(context, parts, generate);
    });
  replaceCode(ajv, 'oneOf', (context, generate) => {
    if (context.schema.length <= MAX_NESTED) generate(context);
    else generateOneOf(context);
  });
}

type Generate = (context: KeywordCxt) => void;

function replaceCode(ajv: Ajv2020, keyword: string, replacement: (context: KeywordCxt, generate: Generate) => void) {
  const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  const { code } = definition;
  definition.code = (context, ruleType) => replacement(context, (part) => code(part, ruleType));
}

/** Generates the code of one part after the other. A part runs only if those before it found no error. */
function generateParts(context: KeywordCxt, parts: readonly unknown[], generate: Generate): void {
  const { gen } = context;
  const errorsBefore = gen.const('_errs', ERRORS);
  const isValid = _`${errorsBefore} === ${ERRORS}`;
  for (const schema of parts)
    gen.block(() => {
      gen.if(isValid);
      generate(Object.create(context, { schema: { value: schema, enumerable: true } }));
    });
  gen.if(isValid);
}

/** Divides the entries of a keyword. The items of a list keep their indexes: `true` stands for those of other parts. */
function partsOf(schema: unknown): unknown[] {
  if (Array.isArray(schema))
    return divided([...schema.keys()]).map((indexes) => {
      const own = new Set(indexes);
      return schema.map((inside, index) => (own.has(index) ? inside : true));
    });
  return isMap(schema) ? divided(Object.entries(schema)).map((entries) => Object.fromEntries(entries)) : [];
}

function divided<Entry>(entries: readonly Entry[]): Entry[][] {
  const count = Math.ceil(entries.length / MAX_NESTED);
  return Array.from({ length: count }, (_part, index) => entries.slice(index * MAX_NESTED, (index + 1) * MAX_NESTED));
}

/** Generates a branch after the other, until two of them are valid. */
function generateOneOf(context: KeywordCxt): void {
  const { gen, schema: branches } = context;
  const count = gen.let('count', 0);
  const passing = gen.let('passing', null);
  const isValid = gen.name('_valid');
  context.setParams({ passing });
  for (const index of (branches as unknown[]).keys())
    gen.if(_`${count} < 2`, () => {
      const branch = context.subschema({ keyword: 'oneOf', schemaProp: index, compositeRule: true }, isValid);
      gen.if(isValid, () => {
        gen.assign(count, _`${count} + 1`);
        gen.assign(passing, _`${passing} === null ? ${index} : [${passing}, ${index}]`);
        context.mergeEvaluated(branch, Name);
      });
    });
  context.result(
    _`${count} === 1`,
    () => context.reset(),
    () => context.error(true),
  );
}
