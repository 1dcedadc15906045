import type { ErrorObject } from 'ajv';
import { parsePointer, valueAt } from '../json-pointer.ts';
import { didYouMean, onlyNearMatch, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Fix, type Path } from '../problem/finding.ts';
import { isMap } from '../schema/schema-walk.ts';
import { exampleOf, examplesText, fixUnit, nativeKey, textRemedy } from './remedies.ts';
import type { YamlValue } from './yaml-values.ts';

/** Quotes the value at a path if it may be printed. */
export type ValueQuoter = (path: Path) => string;

interface SchemaErrorContext {
  readonly error: ErrorObject;
  readonly params: ErrorObject['params'];
  readonly path: Path;
  /** The title of the value's schema: `a duration`. */
  readonly noun: string | undefined;
  /** Valid examples, as the end of a sentence. */
  readonly examples: string;
  readonly root: YamlValue;
  readonly quote: ValueQuoter;
  readonly isSecret: (path: Path) => boolean;
}

/** Converts an error of the validator to findings; to none if another error covers it. */
export function toSchemaFindings(
  error: ErrorObject,
  root: YamlValue,
  quote: ValueQuoter,
  isSecret: (path: Path) => boolean,
): Finding[] {
  const path = pathOf(error.instancePath, root);
  const { params, keyword, parentSchema } = error;
  const examples = examplesText(parentSchema?.['examples']);
  const context = { error, params, path, noun: parentSchema?.['title'], examples, root, quote, isSecret };
  return BY_KEYWORD[keyword]?.(context) ?? [errorAt(path, RULE, error.message ?? keyword)];
}

const RULE = 'schema';

const BY_KEYWORD: Readonly<Record<string, (context: SchemaErrorContext) => Finding[]>> = {
  required({ error, params, path, root }) {
    const missing: string = params['missingProperty'];
    const example = missing === 'upstream' ? upstreamExample(root) : undefined;
    return [errorAtKey(path, RULE, `"${missing}" is missing; add ${missing}: ${example ?? exampleOf(error, missing)}`)];
  },
  additionalProperties({ error, params, path, root }) {
    const name: string = params['additionalProperty'];
    const known = Object.keys(error.parentSchema?.['properties'] ?? {});
    const fix = keyFix([...path, name], name, known, root);
    return [{ ...errorAtKey([...path, name], RULE, `unknown key "${name}"${remedyOf(name, known)}`), fix }];
  },
  propertyNames({ error, params, path }) {
    const name: string = params['propertyName'];
    const message = `"${name}" is not a name; write lower-case words joined by hyphens, such as contacts or login-mfa`;
    // Rule ids are an enum, whose own error lists them.
    const isListed = (error.schema as { $ref?: string }).$ref === '#/$defs/RuleId';
    return isListed ? [] : [errorAtKey([...path, name], RULE, message)];
  },
  enum({ error, params, path, noun, root, quote }) {
    const known: string[] = params['allowedValues'].map(String);
    const name = error.propertyName;
    if (name !== undefined)
      return [errorAtKey([...path, name], RULE, `"${name}" is not ${noun}${suggestion(name, known)}`)];
    const word = stringAt(root, path);
    const form = didYouMean(word, known) === undefined ? (OTHER_FORMS[noun ?? ''] ?? '') : '';
    const message = `${quote(path)} is not ${noun ?? 'supported here'}${suggestion(word, known)}${form}`;
    const meant = onlyNearMatch(word, known);
    // Never fix `access` automatically: it decides who may call a route.
    return [{ ...errorAt(path, RULE, message), fix: valueFix(path, known.includes('public') ? undefined : meant) }];
  },
  const: ({ params, path, quote }) => [
    errorAt(path, RULE, `${quote(path)} is not supported here; write ${JSON.stringify(params['allowedValue'])}`),
  ],
  pattern(context) {
    const { error, path, noun, root, quote } = context;
    // `propertyNames` reports an invalid name.
    if (error.propertyName !== undefined) return [];
    const text = stringAt(root, path);
    const fix = valueFix(path, fixUnit(noun ?? '', text));
    const remedy = remedyOfText(text, context);
    return [{ ...errorAt(path, RULE, `${quote(path)} is not ${noun ?? 'well formed'}${remedy}`), fix }];
  },
  type(context) {
    const { params, path, noun, examples, root, quote } = context;
    const value = valueAt(root, path) as YamlValue;
    const usualRemedy = typeof value === 'number' ? remedyOfText(String(value), context) : examples;
    const isKey = params['type'] === 'object' && /^[\w$-]+(?::(?!\/\/)\S|[\uFE55\uFF1A])/.test(stringAt(root, path));
    const isString = noun !== undefined && params['type'] === 'string';
    const remedy = isKey
      ? '; write a colon and a space after the key'
      : isString && isBracedName(value)
        ? '; "{" begins a map in YAML; put the complete value in quotes'
        : isMap(value) && noun === 'a name'
          ? '; move the map to the top level of the manifest, and write its name here'
          : usualRemedy || (isString ? '; put it in quotes' : '');
    const wanted = noun ?? TYPES[String(params['type'])] ?? params['type'];
    return [errorAt(path, RULE, `${quote(path)} is not ${wanted}${remedy}`)];
  },
  // The validator also reports the error in `then` or `else`.
  if: () => [],
  anyOf: ({ path, examples, quote }) => [errorAt(path, RULE, `${quote(path)} does not fit here${examples}`)],
  minItems: emptyFinding,
  minProperties: emptyFinding,
  minLength: emptyFinding,
  minimum: rangeFinding,
  maximum: rangeFinding,
  maxProperties({ path, root }) {
    const names = Object.keys(valueAt(root, path) ?? {}).join(', ');
    return [errorAt(path, RULE, `only one of these is allowed here: ${names}; remove the others`)];
  },
  uniqueItems({ params, path, quote }) {
    // The validator names the two items in any order. The first one stays.
    const twin = [...path, Math.max(params['i'], params['j'])];
    const message = `${quote(twin)} is in this list twice; remove one`;
    return [{ ...errorAt(twin, RULE, message), fix: { change: 'remove', path: twin } }];
  },
};

function remedyOfText(text: string, { error, path, noun = '', examples, isSecret }: SchemaErrorContext): string {
  const pattern = error.parentSchema?.['pattern'];
  return pattern === undefined ? examples : textRemedy({ text, noun, pattern, examples, isSecret: isSecret(path) });
}

/** The maps that some words are short forms of, by the titles of the schema. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  'client, subject or route': ', or a map such as { header: X-Api-Client }',
  'any or a list': ', or a list such as [admin]',
};

/** True for `{name}` without quotes, which YAML reads as a map. */
function isBracedName(value: YamlValue): boolean {
  if (!isMap(value)) return false;
  const members = Object.values(value);
  return members.length === 1 && members[0] === null;
}

function emptyFinding({ path, examples }: SchemaErrorContext): Finding[] {
  return [errorAt(path, RULE, `this must not be empty${examples || '; write at least one'}`)];
}

function rangeFinding({ error, path, quote }: SchemaErrorContext): Finding[] {
  const { minimum, maximum } = error.parentSchema ?? {};
  return [errorAt(path, RULE, `${quote(path)} is out of range; write a number from ${minimum} to ${maximum}`)];
}

/** Returns the remedy for an unknown key. `login:{ token` is one key, because a colon ends a key only before a space. */
function remedyOf(name: string, known: readonly string[]): string {
  const [start = '', rest = ''] = name.split(/:(?=\S)/, 2);
  if (rest !== '' && known.includes(start)) return '; a colon needs a space after it';
  const native = nativeKey(name, known);
  return native === undefined || didYouMean(name, known) !== undefined
    ? suggestion(name, known)
    : `; did you mean "${native}"?`;
}

/** Returns a fix for a misspelt key if only one name is near and the map does not have that name yet. */
function keyFix(path: Path, name: string, known: readonly string[], root: YamlValue): Fix | undefined {
  const text = onlyNearMatch(name, known);
  if (text === undefined || (valueAt(root, [...path.slice(0, -1), text]) ?? null) !== null) return undefined;
  return { change: 'key', path, text };
}

function valueFix(path: Path, text: string | undefined): Fix | undefined {
  return text === undefined ? undefined : { change: 'value', path, text };
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map of keys to values',
  array: 'a list',
  string: 'a string; put it in quotes',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
};

/** Returns names of upstreams that exist: the example of the schema is another manifest's. */
function upstreamExample(root: YamlValue): string | undefined {
  const names = Object.keys(valueAt(root, ['upstreams']) ?? {});
  if (names.length === 0) return undefined;
  return `${names.slice(0, 3).join(' or ')}${names.length > 3 ? ' or …' : ''}`;
}

/** Converts the validator's JSON Pointer to a path: a number is an index if the value is a list. */
function pathOf(pointer: string, root: YamlValue): Path {
  const path: (string | number)[] = [];
  for (const name of parsePointer(pointer)) path.push(Array.isArray(valueAt(root, path)) ? Number(name) : name);
  return path;
}

/** Returns the string at a path, or ''. Converting other values would call their own key `toString`. */
function stringAt(root: YamlValue, path: Path): string {
  const value = valueAt(root, path) as YamlValue;
  return typeof value === 'string' ? value : '';
}
