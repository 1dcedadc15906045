import type { Finding, Path } from './finding.ts';

// Every text that may contain a secret is redacted before it is printed: here values from the environment, credentials in URLs by
// `redactCredentials`, and in the report the source lines of a problem.

/** A value of the manifest that came from the environment, as plain data that a worker thread may have created. */
export interface Secret {
  readonly path: Path;
  /** The text of the manifest: `http://${HOST}:80`. */
  readonly template: string;
  /** The variables in the text and their values. */
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** The values of a manifest that came from the environment. Such a value is never printed. */
export type Secrets = ReturnType<typeof createSecrets>;

/** A shorter value may be a common word, so it is replaced only if it is quoted or the complete text. */
const MIN_LENGTH = 8;

export function createSecrets(secrets: readonly Secret[]) {
  const tree = buildSecretTree(secrets);
  const nodeAt = (path: Path) =>
    path.reduce<SecretNode | undefined>((node, step) => node?.children.get(String(step)), tree);
  const redactText = createRedactor(secrets);
  return {
    /** The names of the variables whose values the manifest contains. */
    variables: new Set(secrets.flatMap(({ variables }) => variables.map(([name]) => name))),
    /** Returns true if the value at a path came from the environment. */
    isSecret: (path: Path) => nodeAt(path)?.template !== undefined,
    /** Returns true if the value at a path, or one inside it, came from the environment. */
    hasSecretWithin: (path: Path) => path.length > 0 && nodeAt(path) !== undefined,
    /** Returns a printable copy of the value at a path, with `${NAME}` in place of values from the environment. */
    redactValue: <T>(value: T, path: Path) => redactByTree(nodeAt(path), value) as T,
    /** Returns a text with `${NAME}` in place of the values of variables. */
    redactText,
    /** Returns a value in which every text is redacted as by `redactText`. */
    redactTexts: (value: unknown) => redactTexts(value, redactText),
    /** Returns a finding of the compiler that names the variables of its value, and hides a message that may quote the value. */
    redactFinding: (finding: Finding) =>
      redactFinding(finding, (path) => (path.length === 0 ? [] : variablesIn(nodeAt(path)))),
  };
}

/** The paths of secrets as a tree: most of a large manifest holds no secret and is skipped. */
interface SecretNode {
  template: string | undefined;
  variables: readonly string[];
  readonly children: Map<string, SecretNode>;
}

function buildSecretTree(secrets: readonly Secret[]): SecretNode | undefined {
  if (secrets.length === 0) return undefined;
  const root: SecretNode = { template: undefined, variables: [], children: new Map() };
  for (const { path, template, variables } of secrets) {
    let node = root;
    for (const step of path) {
      const next = node.children.get(String(step)) ?? { template: undefined, variables: [], children: new Map() };
      node.children.set(String(step), next);
      node = next;
    }
    node.template = displayTemplate(template, variables);
    node.variables = variables.map(([name]) => name);
  }
  return root;
}

/** A default is the value of a variable that is not set. One that is set has another value, so its default would mislead. */
function displayTemplate(template: string, variables: Secret['variables']): string {
  const set = new Set(variables.map(([name]) => name));
  return template.replaceAll(DEFAULTED, (_match, name: string, fallback: string) =>
    set.has(name) ? `\${${name}}` : fallback,
  );
}

const DEFAULTED = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*):-([^{}]*)\}/g;

/** Returns the names of the variables of a node and of those below it, each once. */
function variablesIn(node: SecretNode | undefined): readonly string[] {
  if (node === undefined) return [];
  return [...new Set([...node.variables, ...[...node.children.values()].flatMap(variablesIn)])];
}

function redactByTree(node: SecretNode | undefined, value: unknown): unknown {
  if (node === undefined) return value;
  if (typeof value === 'string') return node.template ?? value;
  if (Array.isArray(value)) return value.map((item, index) => redactByTree(node.children.get(String(index)), item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactByTree(node.children.get(key), item)]),
  );
}

function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const names = new Map(secrets.flatMap(({ variables }) => variables.map(([name, value]) => [value, name] as const)));
  // A value may contain another one, so the longest is replaced first.
  const values = [...names].toSorted(([a], [b]) => b.length - a.length);
  return (text) => {
    const name = names.get(text);
    if (name !== undefined) return `\${${name}}`;
    return values.reduce(
      (rest, [value, name]) =>
        value.length < MIN_LENGTH
          ? rest.replaceAll(`"${value}"`, () => `"\${${name}}"`)
          : rest.replaceAll(value, () => `\${${name}}`),
      text,
    );
  };
}

function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactTexts(item, redact)]));
}

/** The most variables that a message names. */
const MAX_VARIABLES = 3;

/** Hides a message that may quote a part of a value from the environment, which `redactText` would not recognize. */
function redactFinding(finding: Finding, variablesWithin: (path: Path) => readonly string[]): Finding {
  const { location, related, rule, isQuoteFree } = finding;
  const paths = ['path' in location ? location.path : [], ...(related === undefined ? [] : [related.path])];
  const variables = [...new Set(paths.flatMap(variablesWithin))];
  if (variables.length === 0) return finding;
  const references = variables.slice(0, MAX_VARIABLES).map((name) => `\${${name}}`);
  const value = `the value of ${references.join(' and ')}${variables.length > MAX_VARIABLES ? ' and others' : ''}`;
  if (isQuoteFree) return { ...finding, message: `${value} is not valid: ${finding.message}` };
  const message = `${value} breaks the rule ${rule}, and the reason would quote the value; correct the variable, and see: signing-gateway lint --explain ${rule}`;
  const { fix: _fix, witness: _witness, inFile: _inFile, ...rest } = finding;
  return { ...rest, message };
}
