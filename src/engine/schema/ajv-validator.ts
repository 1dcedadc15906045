import { _, Ajv2020, type CodeKeywordDefinition, Name, str, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { formatPointer, valueAt } from '../json-pointer.ts';
import type { Path } from '../problem/finding.ts';
import { COST, EVALUATED, EXACT_NUMBERS, PREFIX_ITEMS } from './added-keywords.ts';
import { charge } from './cost-budget.ts';
import { HIDDEN } from './hidden-keywords.ts';
import { CONTENT_MAX_BYTES, NUMBER_FORMATS, REPLACED_KEYWORDS, TEXT_FORMATS } from './own-keywords.ts';
import { toRe2 } from './pattern/ecma-pattern.ts';
import { compileOnePass } from './pattern/one-pass.ts';
import { UnsupportedPattern } from './pattern/pattern-parts.ts';
import { isSchema, reachableSchemas, referencePath, type SchemaRoot, targetsIn } from './schema-walk.ts';
import { withAddedKeywords } from './with-added-keywords.ts';

/** The keyword `unevaluatedItems: false`. ajv refuses every list of two items if a branch has evaluated all of them. */
const UNEVALUATED_ITEMS: CodeKeywordDefinition = {
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

const REPLACED = [...REPLACED_KEYWORDS, PREFIX_ITEMS, UNEVALUATED_ITEMS];

/**
 * Creates the function that compiles the schema at a path of the root. It throws an error that says why if the schema does not compile.
 * Validators never change values, and after an error continue only with `allErrors`. Patterns run in linear time.
 */
export function createAjvCompiler(root: SchemaRoot, allErrors: boolean): (path: Path) => ValidateFunction {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    allErrors,
    ownProperties: true,
    // Errors then refer to their schema, which has the author's description.
    verbose: true,
    logger: false,
    // No schema refers to the schema of schemas, which takes 8 ms to add.
    meta: false,
    // Optimizing the code takes as long as generating it, and for long keywords much longer. V8 optimizes it too.
    code: { regExp: linearRegExp, optimize: false },
  });
  addFormats(ajv);
  for (const { keyword } of REPLACED) ajv.removeKeyword(String(keyword));
  for (const keyword of [...REPLACED, CONTENT_MAX_BYTES, COST, EVALUATED, EXACT_NUMBERS, HIDDEN])
    ajv.addKeyword(keyword);
  ajv.addKeyword({ keyword: 'errorMessage', schemaType: 'string' });
  const add = createSchemaAdder(ajv, root);
  const compileAt = (path: Path): ValidateFunction => {
    const validate = ajv.getSchema(add(path));
    if (validate === undefined) throw new Error('there is no schema at its path');
    return validate;
  };
  return (path) => {
    try {
      return compileAt(path);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // ajv compiles references recursively, and a long chain of them overflows the stack, so start at its end.
      const reached = reachableSchemas(root, path, Number.POSITIVE_INFINITY);
      for (const target of targetsIn(reached).reverse()) compileAt(target);
      return compileAt(path);
    }
  };
}

/** Creates the function that adds the schema at a path, and of up to ten thousand others only those that it refers to. Returns its name. */
function createSchemaAdder(ajv: Ajv2020, root: SchemaRoot): (path: Path) => string {
  const names = new Map<string, string>();
  return (path) => {
    const pending: Path[] = [];
    const nameOf = (at: Path): string => {
      const pointer = formatPointer(at);
      const existing = names.get(pointer);
      if (existing !== undefined) return existing;
      const name = `schema:${names.size}`;
      names.set(pointer, name);
      pending.push(at);
      return name;
    };
    const renameReference = (reference: string): string => {
      const target = referencePath(reference);
      return target === undefined || !isSchema(valueAt(root, target)) ? reference : nameOf(target);
    };
    const name = nameOf(path);
    for (const at of pending) {
      const schema = valueAt(root, at);
      // Each schema is validated when it is compiled.
      if (isSchema(schema))
        ajv.addSchema(withAddedKeywords(schema, renameReference) as object, nameOf(at), false, false);
    }
    return name;
  };
}

/** Returns why a pattern is not supported, and what to write instead; `undefined` if it is supported. */
export function patternError(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedPattern) return error.message;
    const isRepetition = error instanceof Error && error.message.includes('repeat count');
    return isRepetition
      ? 'its nested groups repeat more than 1000 times; write * or +, and limit the text with maxLength'
      : 'it is too long, or its groups are nested too deeply; write a shorter one';
  }
}

/** The cost of each character with the slowest format. */
const FORMAT_COST = 10;

function addFormats(ajv: Ajv2020): void {
  for (const [name, matches] of Object.entries(TEXT_FORMATS)) {
    const validate = (text: string) => {
      charge(FORMAT_COST * text.length);
      return matches(text);
    };
    ajv.addFormat(name, { type: 'string', validate });
  }
  for (const [name, validate] of Object.entries(NUMBER_FORMATS)) ajv.addFormat(name, { type: 'number', validate });
}

/** Compiles a pattern for `ajv`, which caches it by the result of `toString`. */
function linearRegExp(pattern: string, flags: string) {
  const { matches, cost } = compilePattern(pattern);
  const test = (text: string) => {
    charge(MATCH_COST + cost * text.length);
    return matches(text);
  };
  return { test, toString: () => `/${pattern}/${flags}` };
}
linearRegExp.code = 'linear';

/** The cost of each match, however short the text is. */
const MATCH_COST = 50;
const INSTRUCTION_COST = 2;
/** V8 keeps each repetition that it may have to undo, in a limited memory. */
const MAX_ONE_PASS_TEXT = 1_000_000;

/**
 * Compiles a pattern so that each match takes linear time: with RE2, or with V8, which is 20 times as fast.
 *
 * @returns `cost`: that of a character in the worst case, which each instruction of the pattern reads
 * @throws UnsupportedPattern, and errors of RE2
 */
function compilePattern(pattern: string): { matches: (text: string) => boolean; cost: number } {
  const onePass = compileOnePass(pattern);
  if (onePass === undefined) return compileRe2(pattern);
  const { expression, steps } = onePass;
  const matches = (text: string) =>
    text.length > MAX_ONE_PASS_TEXT ? compileRe2(pattern).matches(text) : expression.test(text);
  return { matches, cost: INSTRUCTION_COST * steps };
}

function compileRe2(pattern: string) {
  const compiled = RE2JS.compile(toRe2(pattern));
  const matches = (text: string) => compiled.matcher(text).find();
  return { matches, cost: INSTRUCTION_COST * compiled.programSize() };
}
