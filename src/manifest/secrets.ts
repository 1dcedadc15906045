import type { Path } from '../problem/finding.ts';

/** A value of the manifest that came from the environment, as plain data that another thread may have made. */
export interface Secret {
  readonly path: Path;
  /** The text of the manifest: `http://${HOST}:80`. */
  readonly template: string;
  /** The names of the variables in it, and what each of them held. */
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** Knows all values of a manifest that came from the environment. Such a value is never printed. */
export interface Secrets {
  /** Returns true if the value at a path came from the environment. */
  readonly isSecret: (path: Path) => boolean;
  /** Returns true if the value at a path, or one inside of it, came from the environment. */
  readonly hasSecretWithin: (path: Path) => boolean;
  /** Returns the value at a path as it may be printed: each text from the environment as it is written in the manifest. */
  readonly redactValue: <T>(value: T, path: Path) => T;
  /** Returns a text that was put together elsewhere without the values of variables: `${NAME}` takes their place. */
  readonly redactText: (text: string) => string;
}

/** A shorter value may be a common word: it is replaced only where it is quoted or the whole text. */
const MIN_PART = 8;

export function createSecrets(secrets: readonly Secret[]): Secrets {
  const tree = buildSecretTree(secrets);
  const nodeAt = (path: Path) =>
    path.reduce<SecretNode | undefined>((node, step) => node?.children.get(String(step)), tree);
  return {
    isSecret: (path) => nodeAt(path)?.template !== undefined,
    hasSecretWithin: (path) => path.length > 0 && nodeAt(path) !== undefined,
    redactValue: <T>(value: T, path: Path) => redactByTree(nodeAt(path), value) as T,
    redactText: createRedactor(secrets),
  };
}

/** The paths of secrets, step by step: most of a large manifest holds none, and is passed over as a whole. */
interface SecretNode {
  template: string | undefined;
  readonly children: Map<string, SecretNode>;
}

function buildSecretTree(secrets: readonly Secret[]): SecretNode | undefined {
  if (secrets.length === 0) return undefined;
  const root: SecretNode = { template: undefined, children: new Map() };
  for (const { path, template } of secrets) {
    let node = root;
    for (const step of path) {
      const next = node.children.get(String(step)) ?? { template: undefined, children: new Map() };
      node.children.set(String(step), next);
      node = next;
    }
    node.template = template;
  }
  return root;
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

function createRedactor(secrets: readonly Secret[]): Secrets['redactText'] {
  const names = new Map(secrets.flatMap(({ variables }) => variables.map(([name, value]) => [value, name] as const)));
  // Of two values of which one holds the other, the longer one goes first.
  const values = [...names].toSorted(([a], [b]) => b.length - a.length);
  return (text) => {
    const whole = names.get(text);
    if (whole !== undefined) return `\${${whole}}`;
    return values.reduce(
      (rest, [value, name]) =>
        value.length < MIN_PART
          ? rest.replaceAll(`"${value}"`, () => `"\${${name}}"`)
          : rest.replaceAll(value, () => `\${${name}}`),
      text,
    );
  };
}
