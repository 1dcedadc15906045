import type { ErrorObject, ValidateFunction } from 'ajv';
import { valueAt } from '../json-pointer.ts';
import { didYouMean } from '../problem/did-you-mean.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secret } from '../problem/redaction.ts';
import { sha256, type TrackedEnvironment } from './dependencies.ts';
import type { Document } from './document.ts';
import { readDocument } from './include.ts';
import type { Manifest } from './manifest.generated.ts';
import { isManifestKey, isMergedKey } from './manifest-keys.ts';
import { toSchemaFindings, type ValueQuoter } from './schema-finding.ts';
import type { AddressOverrides, Environment, Source } from './source.ts';
import { type Reference, type Substitution, substitute } from './substitute.ts';
import { validate } from './validate.generated.ts';
import { isList, type YamlValue } from './yaml-values.ts';

/** The result of the first stage: the texts of a manifest, parsed and merged into one document. */
interface ReadManifest {
  readonly document: Document;
  /** The text of the manifest, then those of the files that it includes. */
  readonly sources: readonly Source[];
  /** Syntax errors, and errors of `include`. With one of them the manifest is not checked. */
  readonly findings: readonly Finding[];
}

/**
 * The result of the second stage: a manifest with substituted values and defaults. It holds plain values, so a worker thread
 * may create it.
 */
export interface CheckedManifest {
  /** Valid only if there are no findings. */
  readonly manifest: Manifest;
  /** SHA-256, in hex, of the manifest's text and of the files that it includes. */
  readonly hash: string;
  /** The parts that violate the schema, named as `compilePlan` names them. */
  readonly invalidParts: ReadonlySet<string>;
  /** The values from the environment. */
  readonly secrets: readonly Secret[];
  readonly references: readonly Reference[];
  readonly findings: readonly Finding[];
}

/** Parses a manifest and the files that it includes. */
export function readManifest(source: Source, environment: TrackedEnvironment) {
  const { document, findings } = readDocument(source, environment);
  const sources = [document, ...document.included].map(({ file, text }) => ({ path: file, text }));
  return { document, sources, findings };
}

/**
 * Substitutes environment variables, validates against the schema, fills in defaults and applies the overrides; `undefined`
 * after a syntax error.
 *
 * @param allowed the only texts with variables that may be used, if not all of them
 */
export function checkManifest(
  { document, findings: syntax }: Pick<ReadManifest, 'document' | 'findings'>,
  environment: Pick<Environment, 'env' | 'overrides' | 'readSecret'>,
  allowed?: readonly Reference[],
): CheckedManifest | undefined {
  if (syntax.length > 0) return undefined;
  const substituted = substitute(document.value, environment, allowed);
  const { secrets, references } = substituted;
  // The build reads the file of the validator here, at its first use.
  const { checked: manifest, findings } = checkAgainst<Manifest>(validate as never, substituted, copyManifest);
  const printed = (allowed === undefined ? references : secrets).flatMap(({ path }) => printedValueFindings(path));
  const places = new Set(printed.map(({ location }) => JSON.stringify(location)));
  const others = substituted.findings.filter(({ location }) => !places.has(JSON.stringify(location)));
  return {
    manifest: overrideAddresses(manifest, environment.overrides ?? {}),
    hash: manifestHash(document),
    invalidParts: invalidPartsOf(findings),
    secrets,
    references,
    findings: [...others, ...printed, ...findings],
  };
}

/** Replaces the addresses of the listeners. The token and the certificates of the admin API stay. */
function overrideAddresses(manifest: Manifest, { listen, admin }: AddressOverrides): Manifest {
  if (listen === undefined && admin === undefined) return manifest;
  // A file without values is null.
  const written = (manifest as Manifest | null)?.admin;
  const entry = typeof written === 'object' && admin !== undefined ? { ...written, listen: admin } : admin;
  return {
    ...manifest,
    ...(listen === undefined ? {} : { listen }),
    ...(entry === undefined ? {} : { admin: entry }),
  };
}

/** Reports variables in values that logs, metrics and messages print, also those with a default, which may be set elsewhere. */
function printedValueFindings(path: Path): Finding[] {
  const [first, , key, inside] = path;
  const error = (message: string) => [errorAt(path, 'environment', `${message}; write it without a variable`)];
  if (first === 'invariants') return error('an invariant is the same in every environment');
  if (first === 'server' && path[1] === 'via') return error('upstreams, explanations and test cases show this name');
  if (first === 'auth' && inside === 'name') return error('logs and metrics show this name');
  if (first === 'routes' && key === 'respond') return error('clients and reports get this response');
  if (first !== 'routes' || inside !== undefined || (key !== 'id' && key !== 'path')) return [];
  return error(`the ${key} of a route is printed in logs and metrics, and a value from the environment never is`);
}

function manifestHash({ text, included }: Document): string {
  return sha256(included.length === 0 ? text : JSON.stringify([text, ...included.map((other) => other.text)]));
}

function invalidPartsOf(findings: readonly Finding[]): Set<string> {
  const parts = new Set<string>();
  for (const { location } of findings) {
    const [key = '', member] = 'path' in location ? location.path : [];
    parts.add(member === undefined || !isMergedKey(String(key)) ? String(key) : `${key}/${member}`);
    if (!isManifestKey(String(key))) parts.add('');
  }
  return parts;
}

/**
 * Validates values against a schema, and fills in defaults. Messages use the titles and examples of the schema.
 *
 * @param copy copies all parts of the values into which the validator writes defaults
 */
export function checkAgainst<Value>(
  validate: ValidateFunction,
  { value, isSecret }: Pick<Substitution, 'value' | 'isSecret'>,
  copy: (value: YamlValue) => YamlValue = structuredClone,
): { checked: Value; findings: Finding[] } {
  const checked = copy(value) as unknown as Value;
  if (validate(checked)) return { checked, findings: [] };
  const errors = validate.errors ?? [];
  const quote: ValueQuoter = (path) =>
    isSecret(path)
      ? 'the value from the environment'
      : displayValue(valueAt(value, path) as YamlValue, path.length === 0);
  return {
    checked,
    findings: withoutMisspeltKeys(withoutRangesOfFractions(withoutUnintendedBranches(errors)))
      .flatMap((error) => toSchemaFindings(error, value, quote, isSecret))
      .map((finding) => withoutFix(finding, isSecret)),
  };
}

/** Removes a fix that would write a value from the environment into the file. */
function withoutFix(finding: Finding, isSecret: Substitution['isSecret']): Finding {
  const { fix, ...rest } = finding;
  return fix !== undefined && isSecret(fix.path) ? rest : finding;
}

/**
 * Keeps the errors of the intended branch of each failed `anyOf`: the branch with the type of the value, the enum for a string, or the
 * short form of a map for any other scalar, such as a port. Without such a branch, keeps the error of the `anyOf` itself.
 */
function withoutUnintendedBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const [index, any] of errors.entries()) {
    if (any.keyword !== 'anyOf') continue;
    const isDeeper = (error: ErrorObject) => error.instancePath.startsWith(`${any.instancePath}/`);
    // The validator reports the branches right before the `anyOf`.
    let first = index;
    const isBranch = (error: ErrorObject) => error.instancePath === any.instancePath || isDeeper(error);
    while (first > 0 && isBranch(errors[first - 1] as ErrorObject)) first -= 1;
    const branches = errors.slice(first, index);
    const isScalar = any.data === null || typeof any.data !== 'object';
    const isShortForm = isScalar && branches.some(({ params }) => params['type'] === 'object');
    const isIntended = (error: ErrorObject) => {
      if (error.keyword === 'type' && !isDeeper(error)) return isShortForm && error.params['type'] === 'string';
      return isDeeper(error) || error.keyword !== 'enum' || typeof any.data === 'string';
    };
    for (const error of branches) if (!isIntended(error)) dropped.add(error);
    if (branches.some(isIntended)) dropped.add(any);
  }
  return errors.filter((error) => !dropped.has(error));
}

/** Reports a fraction once where a whole number is required: not also as out of range. */
function withoutRangesOfFractions(errors: readonly ErrorObject[]): ErrorObject[] {
  const fractions = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  const isRange = ({ keyword }: ErrorObject) => keyword === 'minimum' || keyword === 'maximum';
  return errors.filter((error) => !isRange(error) || !fractions.has(error.instancePath));
}

/** Reports a misspelt key once: not also as a missing key, or as one key too many. */
function withoutMisspeltKeys(errors: readonly ErrorObject[]): ErrorObject[] {
  const intended = new Set<string>();
  const withUnknownKeys = new Set<string>();
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'additionalProperties') continue;
    withUnknownKeys.add(instancePath);
    const near = didYouMean(params['additionalProperty'], Object.keys(parentSchema?.['properties'] ?? {}));
    if (near !== undefined) intended.add(`${instancePath}/${near}`);
  }
  return errors.filter(
    ({ keyword, instancePath, params }) =>
      !(keyword === 'required' && intended.has(`${instancePath}/${params['missingProperty']}`)) &&
      !(keyword === 'maxProperties' && withUnknownKeys.has(instancePath)),
  );
}

function displayValue(value: YamlValue, isRoot: boolean): string {
  if (value === null) return isRoot ? 'an empty file' : 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

/** The paths of the JSON Schemas of a manifest; `*` stands for an index. */
const SCHEMAS = /^\/(?:schemas|routes\/\*\/(?:body\/schema|(?:params|query|headers)\/properties))$/;

/**
 * Returns a copy of the values of a manifest for the validator, which writes defaults into it. It writes none into JSON
 * Schemas, which are most of a large manifest, so the copy shares them.
 */
function copyManifest(value: YamlValue, path = ''): YamlValue {
  if (value === null || typeof value !== 'object' || SCHEMAS.test(path)) return value;
  if (isList(value)) return value.map((item) => copyManifest(item, `${path}/*`));
  // fromEntries defines own properties, so a key "__proto__" is safe.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, copyManifest(member, `${path}/${key}`)]),
  );
}
