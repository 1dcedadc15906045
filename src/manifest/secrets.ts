import type { Path } from '../problem/finding.ts';

/** A value of the manifest that came from the environment, as plain data that another thread may have made. */
export interface Secret {
  readonly path: Path;
  /** The text of the manifest: `http://${HOST}:80`. */
  readonly written: string;
  /** The names of the variables in it, and what each of them held. */
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** Knows all values of a manifest that came from the environment. Such a value is never printed. */
export interface Secrets {
  /** Returns true if the value at a path came from the environment. */
  readonly isSecret: (path: Path) => boolean;
  /** Returns true if the value at a path, or one inside of it, came from the environment. */
  readonly holdsSecret: (path: Path) => boolean;
  /** Returns the value at a path as it may be printed: each text from the environment as it is written in the manifest. */
  readonly shown: <T>(value: T, path: Path) => T;
  /** Returns a text that was put together elsewhere without the values of variables: `${NAME}` takes their place. */
  readonly redact: (text: string) => string;
}

/** A shorter value may be a common word: it is replaced only where it is quoted or the whole text. */
const MIN_PART = 8;

export function secretsAt(secrets: readonly Secret[]): Secrets {
  const tree = treeOf(secrets);
  const nodeAt = (path: Path) => path.reduce<Node | undefined>((node, step) => node?.inside.get(String(step)), tree);
  return {
    isSecret: (path) => nodeAt(path)?.written !== undefined,
    holdsSecret: (path) => path.length > 0 && nodeAt(path) !== undefined,
    shown: <T>(value: T, path: Path) => shownBy(nodeAt(path), value) as T,
    redact: redactorOf(secrets),
  };
}

/** The paths of secrets, step by step: most of a large manifest holds none, and is passed over as a whole. */
interface Node {
  written: string | undefined;
  readonly inside: Map<string, Node>;
}

function treeOf(secrets: readonly Secret[]): Node | undefined {
  if (secrets.length === 0) return undefined;
  const root: Node = { written: undefined, inside: new Map() };
  for (const { path, written } of secrets) {
    let node = root;
    for (const step of path) {
      const next = node.inside.get(String(step)) ?? { written: undefined, inside: new Map() };
      node.inside.set(String(step), next);
      node = next;
    }
    node.written = written;
  }
  return root;
}

function shownBy(node: Node | undefined, value: unknown): unknown {
  if (node === undefined) return value;
  if (typeof value === 'string') return node.written ?? value;
  if (Array.isArray(value)) return value.map((item, index) => shownBy(node.inside.get(String(index)), item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shownBy(node.inside.get(key), item)]));
}

function redactorOf(secrets: readonly Secret[]): Secrets['redact'] {
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
