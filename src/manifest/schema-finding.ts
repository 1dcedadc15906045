import type { ErrorObject } from 'ajv';
import { parsePointer } from '../json-pointer.ts';
import { onlyNearMatch, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Fix, type Path } from '../problem/finding.ts';
import { fixDuration, fixSize } from './units.ts';
import type { YamlValue } from './yaml-values.ts';

/** Shows the value at a path, if it may be shown. */
export type ValueQuoter = (path: Path) => string;

/** What a validator said, and of what. */
interface SchemaErrorContext {
  readonly error: ErrorObject;
  readonly params: ErrorObject['params'];
  readonly path: Path;
  /** What the value should be, by the schema's own title: `a duration`. */
  readonly noun: string | undefined;
  /** What may be written, as the end of a sentence. */
  readonly examples: string;
  readonly root: YamlValue;
  readonly quote: ValueQuoter;
}

/** What an error of the validator means to the author: none where another one says it. */
export function toSchemaFindings(error: ErrorObject, root: YamlValue, quote: ValueQuoter): Finding[] {
  const path = pathOf(error.instancePath, root);
  const { params, keyword, parentSchema } = error;
  const examples = exampleText(parentSchema?.['examples']);
  const said = { error, params, path, noun: parentSchema?.['title'], examples, root, quote };
  return BY_KEYWORD[keyword]?.(said) ?? [errorAt(path, RULE, error.message ?? keyword)];
}

const RULE = 'schema';

const BY_KEYWORD: Readonly<Record<string, (said: SchemaErrorContext) => Finding[]>> = {
  required({ error, params, path }) {
    const missing: string = params['missingProperty'];
    return [errorAtKey(path, RULE, `"${missing}" is missing; add ${missing}: ${exampleOf(error, missing)}`)];
  },
  additionalProperties({ error, params, path, root }) {
    const name: string = params['additionalProperty'];
    const known = Object.keys(error.parentSchema?.['properties'] ?? {});
    const fix = keyFix([...path, name], name, known, root);
    return [{ ...errorAtKey([...path, name], RULE, `unknown key "${name}"${suggestion(name, known)}`), fix }];
  },
  propertyNames({ error, params, path }) {
    const name: string = params['propertyName'];
    const message = `"${name}" is not a name; write lower-case words joined by hyphens, such as contacts or login-mfa`;
    // What is on no list of names was told of by the list.
    const isListed = (error.schema as { $ref?: string }).$ref === '#/$defs/RuleId';
    return isListed ? [] : [errorAtKey([...path, name], RULE, message)];
  },
  enum({ error, params, path, noun, root, quote }) {
    const known: string[] = params['allowedValues'].map(String);
    const name = error.propertyName;
    if (name !== undefined)
      return [errorAtKey([...path, name], RULE, `"${name}" is not ${noun}${suggestion(name, known)}`)];
    const word = stringAt(root, path);
    const message = `${quote(path)} is not ${noun ?? 'known here'}${suggestion(word, known)}`;
    const meant = onlyNearMatch(word, known);
    // Whoever may call is for the author to say, however near the word.
    return [{ ...errorAt(path, RULE, message), fix: valueFix(path, known.includes('public') ? undefined : meant) }];
  },
  const: ({ params, path, quote }) => [
    errorAt(path, RULE, `${quote(path)} is not known here; write ${JSON.stringify(params['allowedValue'])}`),
  ],
  pattern({ error, path, noun, examples, root, quote }) {
    // A name that does not fit is told of once, by the `propertyNames` that asked for it.
    if (error.propertyName !== undefined) return [];
    const fix = valueFix(path, unitFixer(noun)?.(stringAt(root, path)));
    return [{ ...errorAt(path, RULE, `${quote(path)} is not ${noun ?? 'well formed'}${examples}`), fix }];
  },
  type({ params, path, noun, examples, quote }) {
    const remedy = examples || (noun && params['type'] === 'string' ? '; put it in quotes' : '');
    const wanted = noun ?? TYPES[String(params['type'])] ?? params['type'];
    return [errorAt(path, RULE, `${quote(path)} is not ${wanted}${remedy}`)];
  },
  // What it asks for is told of by itself.
  if: () => [],
  anyOf: ({ path, examples, quote }) => [errorAt(path, RULE, `${quote(path)} does not fit here${examples}`)],
  minItems: emptyFinding,
  minProperties: emptyFinding,
  minLength: emptyFinding,
  minimum: rangeFinding,
  maximum: rangeFinding,
  maxProperties({ path, root }) {
    const names = Object.keys(valueAt(root, path) ?? {}).join(', ');
    return [errorAt(path, RULE, `only one of these may stand here: ${names}`)];
  },
  uniqueItems({ params, path, quote }) {
    const twin = [...path, params['i']];
    const message = `${quote(twin)} stands in this list twice; remove one`;
    return [{ ...errorAt(twin, RULE, message), fix: { change: 'remove', path: twin } }];
  },
};

function emptyFinding({ path, examples }: SchemaErrorContext): Finding[] {
  return [errorAt(path, RULE, `this must not be empty${examples || '; write at least one'}`)];
}

function rangeFinding({ error, path, quote }: SchemaErrorContext): Finding[] {
  const { minimum, maximum } = error.parentSchema ?? {};
  return [errorAt(path, RULE, `${quote(path)} is out of range; write a number from ${minimum} to ${maximum}`)];
}

/** Another name for a key, if only one can be meant, and the map does not have that already. */
function keyFix(path: Path, name: string, known: readonly string[], root: YamlValue): Fix | undefined {
  const text = onlyNearMatch(name, known);
  if (text === undefined || valueAt(root, [...path.slice(0, -1), text]) !== null) return undefined;
  return { change: 'key', path, text };
}

function valueFix(path: Path, text: string | undefined): Fix | undefined {
  return text === undefined ? undefined : { change: 'value', path, text };
}

function unitFixer(noun = ''): ((text: string) => string | undefined) | undefined {
  if (noun === 'a size') return fixSize;
  return noun.startsWith('a duration') ? fixDuration : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map of keys to values',
  array: 'a list',
  string: 'a string; put it in quotes',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
};

/** What may be written for a member that is missing, from the schema's own examples. */
function exampleOf(error: ErrorObject, missing: string): string {
  const member = error.parentSchema?.['properties']?.[missing];
  if (Array.isArray(member?.enum)) return member.enum.join(' or ');
  const example: unknown = member?.examples?.[0];
  if (example === undefined) return '…';
  return typeof example === 'object' ? JSON.stringify(example) : String(example);
}

function exampleText(examples: unknown): string {
  if (!Array.isArray(examples) || examples.length === 0) return '';
  return `; write for example ${examples.map((example) => (typeof example === 'string' ? example : JSON.stringify(example))).join(' or ')}`;
}

/** A JSON Pointer of the validator as a path: digits are an index where the value is a list. */
function pathOf(pointer: string, root: YamlValue): Path {
  const path: (string | number)[] = [];
  for (const name of parsePointer(pointer)) path.push(Array.isArray(valueAt(root, path)) ? Number(name) : name);
  return path;
}

export function valueAt(root: YamlValue, path: Path): YamlValue {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return null;
    value = (value as Record<string | number, YamlValue>)[step] ?? null;
  }
  return value;
}

/** What may be a misspelt word there. Of anything else a text is not made: its own key "toString" would be called. */
function stringAt(root: YamlValue, path: Path): string {
  const value = valueAt(root, path);
  return typeof value === 'string' ? value : '';
}
