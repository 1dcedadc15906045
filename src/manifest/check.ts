import type { ErrorObject, ValidateFunction } from 'ajv';
import { didYouMean, onlyMeant, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Fix, type Path } from '../problem/finding.ts';
import type { Value } from './document.ts';
import type { Manifest } from './manifest.generated.ts';
import type { Substituted } from './substitute.ts';
import { mendDuration, mendSize } from './units.ts';
import { validate as generated } from './validate.generated.ts';

const validate = generated as unknown as ValidateFunction;

/**
 * Holds the substituted values to the JSON Schema and fills the defaults in. Every mistake is found, not the
 * first only; what has findings is a manifest in name only.
 */
export function check(substituted: Substituted): { manifest: Manifest; findings: Finding[] } {
  const { checked, findings } = checkBy<Manifest>(validate, substituted);
  return { manifest: checked, findings };
}

/** The same by the validator of another schema; its messages are made of the schema's own titles and examples. */
export function checkBy<Checked>(
  validate: ValidateFunction,
  { value, isSecret }: Pick<Substituted, 'value' | 'isSecret'>,
): { checked: Checked; findings: Finding[] } {
  // The validator writes the defaults into what it is given: it gets a copy of its own.
  const checked = structuredClone(value) as unknown as Checked;
  if (validate(checked)) return { checked, findings: [] };
  const errors = validate.errors ?? [];
  const quote: Quote = (path) => {
    const at = valueAt(value, path);
    return isSecret(path) ? 'what the environment gave here' : shown(at);
  };
  return {
    checked,
    findings: withoutMisspelt(withoutStrayBranches(errors)).flatMap((error) => toFinding(error, value, quote)),
  };
}

type Quote = (path: Path) => string;

/**
 * Of an `anyOf` that failed, keeps the errors of the branch that was meant: the one whose type the value has, or
 * the list of words where a word was written. Without either, the `anyOf` speaks for all of its branches.
 */
function withoutStrayBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const [index, any] of errors.entries()) {
    if (any.keyword !== 'anyOf') continue;
    const isDeeper = (error: ErrorObject) => error.instancePath.startsWith(`${any.instancePath}/`);
    const isMeant = (error: ErrorObject) =>
      isDeeper(error) || (error.keyword === 'enum' ? typeof any.data === 'string' : error.keyword !== 'type');
    // The validator tells of the branches right before it tells of the `anyOf`.
    let first = index;
    const isBranch = (error: ErrorObject) => error.instancePath === any.instancePath || isDeeper(error);
    while (first > 0 && isBranch(errors[first - 1] as ErrorObject)) first -= 1;
    const branches = errors.slice(first, index);
    for (const error of branches) if (!isMeant(error)) dropped.add(error);
    if (branches.some(isMeant)) dropped.add(any);
  }
  return errors.filter((error) => !dropped.has(error));
}

/** A misspelt key is one mistake, not a key too many and another too few; an unknown one is not one too many besides. */
function withoutMisspelt(errors: readonly ErrorObject[]): ErrorObject[] {
  const meant = new Set<string>();
  const strange = new Set<string>();
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'additionalProperties') continue;
    strange.add(instancePath);
    const near = didYouMean(params['additionalProperty'], Object.keys(parentSchema?.['properties'] ?? {}));
    if (near !== undefined) meant.add(`${instancePath}/${near}`);
  }
  return errors.filter(
    ({ keyword, instancePath, params }) =>
      !(keyword === 'required' && meant.has(`${instancePath}/${params['missingProperty']}`)) &&
      !(keyword === 'maxProperties' && strange.has(instancePath)),
  );
}

function toFinding(error: ErrorObject, root: Value, quote: Quote): Finding[] {
  const path = pathOf(error.instancePath, root);
  const rule = 'schema';
  const { params, keyword } = error;
  const noun: string | undefined = error.parentSchema?.['title'];
  const examples = exampleText(error.parentSchema?.['examples']);
  switch (keyword) {
    case 'required': {
      const missing: string = params['missingProperty'];
      return [errorAtKey(path, rule, `"${missing}" is missing; add ${missing}: ${hint(error, missing)}`)];
    }
    case 'additionalProperties': {
      const name: string = params['additionalProperty'];
      const known = Object.keys(error.parentSchema?.['properties'] ?? {});
      const fix = renaming([...path, name], name, known, root);
      return [{ ...errorAtKey([...path, name], rule, `unknown key "${name}"${suggestion(name, known)}`), fix }];
    }
    case 'propertyNames': {
      const name: string = params['propertyName'];
      const message = `"${name}" is not a name; write lower-case words joined by hyphens, such as contacts or login-mfa`;
      // What is on no list of names was told of by the list.
      const isListed = (error.schema as { $ref?: string }).$ref === '#/$defs/RuleId';
      return isListed ? [] : [errorAtKey([...path, name], rule, message)];
    }
    case 'enum': {
      const known: string[] = params['allowedValues'].map(String);
      const name = error.propertyName;
      if (name !== undefined)
        return [errorAtKey([...path, name], rule, `"${name}" is not ${noun}${suggestion(name, known)}`)];
      const word = wordAt(root, path);
      const message = `${quote(path)} is not ${noun ?? 'known here'}${suggestion(word, known)}`;
      const meant = onlyMeant(word, known);
      // Whoever may call is for the author to say, however near the word.
      return [{ ...errorAt(path, rule, message), fix: rewording(path, known.includes('public') ? undefined : meant) }];
    }
    case 'const':
      return [errorAt(path, rule, `${quote(path)} is not known here; write ${JSON.stringify(params['allowedValue'])}`)];
    case 'pattern':
      // A name that does not fit is told of once, by the `propertyNames` that asked for it.
      if (error.propertyName !== undefined) return [];
      return [
        {
          ...errorAt(path, rule, `${quote(path)} is not ${noun ?? 'well formed'}${examples}`),
          fix: rewording(path, mendOf(noun)?.(wordAt(root, path))),
        },
      ];
    case 'type':
      return [
        errorAt(
          path,
          rule,
          `${quote(path)} is not ${noun ?? TYPES[String(params['type'])] ?? params['type']}${examples || (noun && params['type'] === 'string' ? '; put it in quotes' : '')}`,
        ),
      ];
    case 'if':
      // What it asks for is told of by itself.
      return [];
    case 'anyOf':
      return [errorAt(path, rule, `${quote(path)} does not fit here${examples}`)];
    case 'minItems':
    case 'minProperties':
    case 'minLength':
      return [errorAt(path, rule, `this must not be empty${examples || '; write at least one'}`)];
    case 'minimum':
    case 'maximum':
      return [
        errorAt(
          path,
          rule,
          `${quote(path)} is out of range; write a number from ${error.parentSchema?.['minimum']} to ${error.parentSchema?.['maximum']}`,
        ),
      ];
    case 'maxProperties':
      return [
        errorAt(path, rule, `only one of these may stand here: ${Object.keys(valueAt(root, path) ?? {}).join(', ')}`),
      ];
    case 'uniqueItems': {
      const twin = [...path, params['i']];
      const message = `${quote(twin)} stands in this list twice; remove one`;
      return [{ ...errorAt(twin, rule, message), fix: { change: 'remove', path: twin } }];
    }
    default:
      return [errorAt(path, rule, error.message ?? keyword)];
  }
}

/** Another name for a key, if only one can be meant, and the map does not have that already. */
function renaming(path: Path, name: string, known: readonly string[], root: Value): Fix | undefined {
  const text = onlyMeant(name, known);
  if (text === undefined || valueAt(root, [...path.slice(0, -1), text]) !== null) return undefined;
  return { change: 'key', path, text };
}

function rewording(path: Path, text: string | undefined): Fix | undefined {
  return text === undefined ? undefined : { change: 'value', path, text };
}

function mendOf(noun = ''): ((text: string) => string | undefined) | undefined {
  if (noun === 'a size') return mendSize;
  return noun.startsWith('a duration') ? mendDuration : undefined;
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
function hint(error: ErrorObject, missing: string): string {
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

function shown(value: Value): string {
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

/** A JSON Pointer of the validator as a path: digits are an index where the value is a list. */
function pathOf(pointer: string, root: Value): Path {
  const path: (string | number)[] = [];
  for (const raw of pointer.split('/').slice(1)) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(valueAt(root, path)) ? Number(name) : name);
  }
  return path;
}

function valueAt(root: Value, path: Path): Value {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return null;
    value = (value as Record<string | number, Value>)[step] ?? null;
  }
  return value;
}

/** What may be a misspelt word there. Of anything else a text is not made: its own key "toString" would be called. */
function wordAt(root: Value, path: Path): string {
  const value = valueAt(root, path);
  return typeof value === 'string' ? value : '';
}
