import { Ajv2020, type ErrorObject, type Format, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { formatPointer } from '../../json-pointer.ts';
import type { Path } from '../../problem/finding.ts';
import { COST, EXACT_NUMBERS } from './added-keywords.ts';
import { CONTENT_ENCODING, CONTENT_MAX_BYTES } from './base64-keywords.ts';
import { charge } from './cost-budget.ts';
import { toRe2 } from './ecma-pattern.ts';
import { HIDDEN } from './hidden-keywords.ts';
import { validate } from './json-schema.generated.ts';
import { INTERNAL_KEYWORDS } from './keywords.ts';
import { MULTIPLE_OF } from './multiple-of.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isSchema, referencePath, valueAt } from './schema-walk.ts';
import { UNIQUE_ITEMS } from './unique-items.ts';
import { withAddedKeywords } from './with-added-keywords.ts';

const INTERNAL: ReadonlySet<string> = new Set(Object.values(INTERNAL_KEYWORDS));
/** Validates against JSON Schema's own schema. It is generated, because compiling it at startup would double the load time. */
const isMetaValid = validate as unknown as ValidateFunction;

/** A configured ajv with the schemas of one root. */
export interface AjvValidator {
  /** Compiles the schema at a path of the root. Throws an error that says why if it does not compile. */
  compile(path: Path): ValidateFunction;
  /** Validates a schema against JSON Schema's own schema. */
  metaSchemaErrors(schema: unknown): readonly ErrorObject[];
  readonly keywords: readonly string[];
  readonly formats: readonly string[];
}

/**
 * Creates a validator that never changes values: no coercion, no defaults, no removal. Patterns run in linear time,
 * because they validate hostile input.
 *
 * @param allErrors true to continue after the first error
 */
export function createAjvValidator(root: SchemaRoot, allErrors: boolean): AjvValidator {
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
    code: { regExp: linearRegExp },
  });
  // Node and TypeScript disagree about the default export of a CommonJS module.
  (ajvFormats as unknown as typeof ajvFormats.default)(ajv);
  limitFormats(ajv);
  for (const { keyword } of [UNIQUE_ITEMS, MULTIPLE_OF, CONTENT_ENCODING]) ajv.removeKeyword(keyword);
  for (const keyword of [UNIQUE_ITEMS, MULTIPLE_OF, CONTENT_ENCODING, CONTENT_MAX_BYTES, COST, EXACT_NUMBERS, HIDDEN])
    ajv.addKeyword(keyword);
  ajv.addKeyword({ keyword: 'errorMessage', schemaType: 'string' });
  const keywords = Object.keys(ajv.RULES.keywords).filter((keyword) => !INTERNAL.has(keyword));
  const add = createSchemaAdder(ajv, root);
  return {
    keywords,
    formats: Object.keys(ajv.formats),
    metaSchemaErrors: (schema) => (isMetaValid(schema) ? [] : (isMetaValid.errors ?? [])),
    compile(path) {
      const validate = ajv.getSchema(add(path));
      if (validate === undefined) throw new Error('there is no schema at its path');
      return validate;
    },
  };
}

/**
 * Creates the function that adds the schema at a path, and the schemas that it refers to, and returns its name. A manifest
 * may have ten thousand schemas, so the others are not added.
 */
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

/** Throws an error that says why if a pattern cannot run in linear time. */
export function checkPattern(pattern: string): void {
  RE2JS.compile(toRe2(pattern));
}

/** No valid value with a format is longer. A longer text could overflow the stack of a regular expression. */
const MAX_FORMAT_CHARACTERS = 65_536;
/** The cost of each character with the slowest format. */
const FORMAT_COST = 10;

function limitFormats(ajv: Ajv2020): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const definition = typeof format === 'object' && !(format instanceof RegExp) ? format : { validate: format };
    if ('type' in definition && definition.type === 'number') continue;
    const { validate } = definition as { validate: RegExp | ((text: string) => boolean) | true };
    if (validate === true) continue;
    const matches = validate instanceof RegExp ? (text: string) => validate.test(text) : validate;
    const validateLimited = (text: string) => {
      charge(FORMAT_COST * text.length);
      return text.length <= MAX_FORMAT_CHARACTERS && matches(text);
    };
    ajv.addFormat(name, { ...definition, validate: validateLimited } as Format);
  }
}

/** Compiles a pattern with RE2. Its `toString` must be unique: ajv caches patterns by it. */
function linearRegExp(pattern: string, flags: string) {
  const compiled = RE2JS.compile(toRe2(pattern));
  // In the worst case, each character runs every instruction of the pattern.
  const cost = INSTRUCTION_COST * compiled.programSize();
  const test = (text: string) => {
    charge(MATCH_COST + cost * text.length);
    return compiled.matcher(text).find();
  };
  return { test, toString: () => `/${pattern}/${flags}` };
}
linearRegExp.code = 'linear';

const INSTRUCTION_COST = 2;
/** The cost of each match, however short the text is. */
const MATCH_COST = 50;
