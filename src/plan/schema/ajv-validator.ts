import { Ajv2020, type ErrorObject, type Format, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { RE2JS } from 're2js';
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
import { referenceTo } from './schema-walk.ts';
import { UNIQUE_ITEMS } from './unique-items.ts';
import { withAddedKeywords } from './with-added-keywords.ts';

const ROOT = 'manifest:';
const INTERNAL: ReadonlySet<string> = new Set(Object.values(INTERNAL_KEYWORDS));
/** Of JSON Schema itself: to compile it at start would cost as much as to load all else. */
const isSchema = validate as unknown as ValidateFunction;

/** A validator of JSON Schema, and all that is known of it. */
export interface AjvValidator {
  /** The schema at a path of the root. Throws a sentence when it does not compile. */
  compile(path: Path): ValidateFunction;
  /** What JSON Schema itself says against a schema. */
  metaSchemaErrors(schema: unknown): readonly ErrorObject[];
  readonly keywords: readonly string[];
  readonly formats: readonly string[];
}

/**
 * Values are judged, never changed: no coercion, no defaults, no removal. Patterns run in linear time, since they
 * meet hostile input.
 *
 * @param allErrors whether it goes on after the first error
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
    // An error then knows its schema, for what that says of itself.
    verbose: true,
    logger: false,
    code: { regExp: linearRegExp },
  });
  // The default export of a CommonJS module, as Node and as TypeScript see it.
  (ajvFormats as unknown as typeof ajvFormats.default)(ajv);
  limitFormats(ajv);
  for (const { keyword } of [UNIQUE_ITEMS, MULTIPLE_OF, CONTENT_ENCODING]) ajv.removeKeyword(keyword);
  for (const keyword of [UNIQUE_ITEMS, MULTIPLE_OF, CONTENT_ENCODING, CONTENT_MAX_BYTES, COST, EXACT_NUMBERS, HIDDEN])
    ajv.addKeyword(keyword);
  ajv.addKeyword({ keyword: 'errorMessage', schemaType: 'string' });
  const keywords = Object.keys(ajv.RULES.keywords).filter((keyword) => !INTERNAL.has(keyword));
  return {
    keywords,
    formats: Object.keys(ajv.formats),
    metaSchemaErrors: (schema) => (isSchema(schema) ? [] : (isSchema.errors ?? [])),
    compile(path) {
      if (ajv.schemas[ROOT] === undefined) addRoot(ajv, withAddedKeywords(root));
      const validate = ajv.getSchema(`${ROOT}${referenceTo(path)}`);
      if (validate === undefined) throw new Error('it was not found');
      return validate;
    },
  };
}

/** Throws a sentence when a pattern cannot run in linear time. */
export function checkPattern(pattern: string): void {
  RE2JS.compile(toRe2(pattern));
}

/** Nothing that has a format is as long as this; a longer text could overflow the stack of a regular expression. */
const MAX_FORMAT_CHARACTERS = 65_536;
/** Of each character, for the slowest of the formats. */
const FORMAT_EFFORT = 10;

function limitFormats(ajv: Ajv2020): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const definition = typeof format === 'object' && !(format instanceof RegExp) ? format : { validate: format };
    if ('type' in definition && definition.type === 'number') continue;
    const { validate } = definition as { validate: RegExp | ((text: string) => boolean) | true };
    if (validate === true) continue;
    const fits = validate instanceof RegExp ? (text: string) => validate.test(text) : validate;
    const isShort = (text: string) => {
      charge(FORMAT_EFFORT * text.length);
      return text.length <= MAX_FORMAT_CHARACTERS && fits(text);
    };
    ajv.addFormat(name, { ...definition, validate: isShort } as Format);
  }
}

/** What is around the schemas is none itself; each of them is validated where it is compiled. */
function addRoot(ajv: Ajv2020, root: SchemaRoot): void {
  for (const keyword of Object.keys(root)) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      compile: (_value: unknown, parent: object) => {
        if (parent !== root) throw new Error(`unknown keyword: "${keyword}"`);
        return () => true;
      },
    });
  }
  ajv.addSchema(root as object, ROOT, false, false);
}

/** A pattern in RE2's language. `toString` must tell patterns apart: ajv keeps one of those that print alike. */
function linearRegExp(pattern: string, flags: string) {
  const compiled = RE2JS.compile(toRe2(pattern));
  // Each character may meet every instruction of the pattern.
  const effort = INSTRUCTION_EFFORT * compiled.programSize();
  const test = (text: string) => {
    charge(MATCH_EFFORT + effort * text.length);
    return compiled.matcher(text).find();
  };
  return { test, toString: () => `/${pattern}/${flags}` };
}
linearRegExp.code = 'linear';

const INSTRUCTION_EFFORT = 2;
/** Of each match, however short the text is. */
const MATCH_EFFORT = 50;
