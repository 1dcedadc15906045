import { randomUUID } from 'node:crypto';
import { getOrCreate } from '../get-or-create.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { createSecrets, type Secret } from '../problem/redaction.ts';
import { sha256 } from './dependencies.ts';
import { describeFileError, type Environment, fileErrorCode, MAX_SECRET_BYTES } from './source.ts';
import { isList, type YamlValue } from './yaml-values.ts';

/** `$${` is a literal `${`; `${NAME}` and `${NAME:-default}` are variables, `${file:PATH}` is a secret; any other `${` is an error. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{file:(\/[^{}:]+)\}|\$\{/g;

/** A text with variables, at its place in the manifest. */
export interface Reference {
  readonly path: Path;
  readonly template: string;
}

export type Substitution = ReturnType<typeof substitute>;

/**
 * Substitutes environment variables and secret files in parsed strings, never in the text, so that their values cannot change the
 * structure.
 *
 * @param allowed the only texts with variables that may be used, if not all of them
 */
export function substitute(
  value: YamlValue,
  { env, readSecret }: Pick<Environment, 'env' | 'readSecret'>,
  allowed?: readonly Reference[],
) {
  const secretFiles = new Map<string, SecretResult>();
  const allowedKeys =
    allowed &&
    new Set(allowed.filter(({ path }) => !path.some((step) => REVEALING.test(String(step)))).map(keyOfReference));
  // All texts with variables, also with those that are not set.
  const references: Reference[] = [];
  const findings: Finding[] = [];
  const secrets: Secret[] = [];
  const substituteText = (template: string, at: Path): string => {
    if (!template.includes('${')) return template;
    const path = [...at];
    const variables: [name: string, value: string][] = [];
    if (VARIABLE.test(template)) {
      references.push({ path, template });
      if (allowedKeys?.has(keyOfReference({ path, template })) === false) {
        findings.push(errorAt(path, 'environment', NOT_ALLOWED));
        return template;
      }
    }
    const report = (message: string) => findings.push(errorAt(path, 'environment', message));
    const substituteFile = (reference: string, file: string): string => {
      if (!mayComeFromFile(path, template)) {
        report(NO_SECRET);
        return reference;
      }
      const read = readSecret && getOrCreate(secretFiles, file, () => readSecretFile(file, readSecret));
      if (read?.error !== undefined) report(`the secret "${file}" cannot be read: ${read.error}`);
      const secret = read === undefined ? unknownSecret(path, reference) : read.secret;
      if (secret === undefined) return reference;
      variables.push([`file:${file}`, secret]);
      return secret;
    };
    const result = template.replaceAll(REFERENCE, (match, name?: string, fallback?: string, file?: string) => {
      if (match === '$${') return '${';
      if (file !== undefined) return substituteFile(match, file);
      if (name === undefined) {
        report(
          'this "${" does not begin a variable; write ${NAME}, ${NAME:-default}, ${file:/run/secrets/NAME}, or "$${" for the characters themselves',
        );
        return match;
      }
      const variable = env[name];
      if (variable !== undefined && variable !== '') {
        variables.push([name, variable]);
        return variable;
      }
      if (fallback !== undefined) return fallback;
      report(`the environment variable ${name} is not set; set it, or write a default: \${${name}:-…}`);
      return match;
    });
    if (variables.length > 0) secrets.push({ path, template, variables });
    return result;
  };
  const substituted = mapTexts(value, substituteText);
  return { value: substituted, findings, secrets, references, isSecret: createSecrets(secrets).isSecret };
}

/** Returns a value with changed texts. A list or a map without a change stays the same object: in most manifests these are almost all. */
function mapTexts(
  value: YamlValue,
  change: (text: string, path: Path) => string,
  path: (string | number)[] = [],
): YamlValue {
  if (typeof value === 'string') return change(value, path);
  if (value === null || typeof value !== 'object') return value;
  const members = value as Readonly<Record<string | number, YamlValue>>;
  let copy: Record<string | number, YamlValue> | YamlValue[] | undefined;
  for (const step of isList(value) ? value.keys() : Object.keys(value)) {
    const member = members[step] as YamlValue;
    path.push(step);
    const changed = mapTexts(member, change, path);
    path.pop();
    if (changed === member) continue;
    copy ??= isList(value) ? [...value] : { ...value };
    copy[step as number] = changed;
  }
  return copy ?? value;
}

interface SecretResult {
  readonly secret?: string;
  readonly error?: string;
}

function readSecretFile(file: string, readSecret: (path: string) => string): SecretResult {
  try {
    return { secret: readSecret(file) };
  } catch (error) {
    return { error: describeSecretError(fileErrorCode(error)) };
  }
}

const NO_SECRET =
  'a file may only have a secret, a password, a client id or the value of a request header; write the value here, or a variable';
const VARIABLE = /(?<!\$)\$\{[A-Za-z_]/;
const NOT_ALLOWED =
  'a candidate that was sent may use a variable only at the key where the active manifest has the same text, and never in patterns, schemas, header rules, "respond" or "redirect"; write the value, or start the gateway with --candidate';

/** The keys at which the responses to requests would reveal a value, one question at a time. */
const REVEALING = /^(?:pattern|when|parameters|schemas?|requestHeaders|responseHeaders|respond|redirect)$/;

/** Positions in lists do not count: a candidate may have other routes. */
function keyOfReference({ path, template }: Reference): string {
  return JSON.stringify([path.map((step) => (typeof step === 'number' ? 0 : step)), template]);
}

const ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist; create it, or correct the path',
  EFBIG: `it has more than ${MAX_SECRET_BYTES} bytes; name a file that has only the secret`,
  outside: 'it is not in the folder of secrets; move it there, or name its folder with --secrets-dir',
  empty: 'it is empty; write the secret into it',
  'not text': 'it is not UTF-8 text; encode the secret, for example as Base64',
};

/** Returns why a secret file cannot be read, and what to do, as the end of a message. */
function describeSecretError(code: string): string {
  return ERRORS[code] ?? describeFileError(code);
}

const SECRET_SECTIONS = /^(?:admin|auth|log|stores)$/;
const SECRET_KEYS = /^(?:token|secret|clientId|clientSecret|username|password)$/;

/** True if the value at a path may come from a file: a secret, a request header, or a part of a Redis URL. */
function mayComeFromFile(path: Path, template: string): boolean {
  if (path.at(-3) === 'requestHeaders') return path.at(-2) === 'set';
  if (path[0] === 'stores' && path.includes('redis') && /^\w+:\/\//.test(template)) return true;
  return SECRET_SECTIONS.test(String(path[0])) && SECRET_KEYS.test(String(path.at(-1)));
}

/** A program that serves without reading the files must not accept a token that anybody can compute. */
const SALT = randomUUID();

/**
 * Returns the value that stands for a secret where its file is not read: in this process the same for the same file, and valid at each key
 * that may have one. In a header it is the reference, which test cases can expect.
 */
function unknownSecret(path: Path, reference: string): string {
  return path.includes('requestHeaders') ? reference : sha256(SALT + reference);
}
