import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { World } from './source.ts';
import type { Value } from './values.ts';

/** `$${` is a literal `${`; `${NAME}` and `${NAME:-default}` are variables; any other `${` is a mistake. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{/g;

export interface Substituted {
  readonly value: Value;
  readonly findings: readonly Finding[];
  /** The paths of the values that came from the environment, as JSON. */
  readonly secrets: readonly string[];
  /** Whether the value at a path came from the environment: such a value is never printed. */
  readonly isSecret: (path: Path) => boolean;
  /** Whether that goes for the value at a path or for one inside of it. */
  readonly holdsSecret: (path: Path) => boolean;
}

/**
 * Puts environment variables into string values. It works on parsed values and never on text, so what a
 * variable holds cannot change the structure of the manifest.
 */
export function substitute(value: Value, env: World['env']): Substituted {
  const findings: Finding[] = [];
  const secret = new Set<string>();
  const walk = (node: Value, path: Path): Value => {
    if (typeof node === 'string') return node.includes('${') ? substituteText(node, path) : node;
    if (isList(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (node === null || typeof node !== 'object') return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  const substituteText = (text: string, path: Path): string =>
    text.replaceAll(REFERENCE, (match, name: string | undefined, fallback: string | undefined) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        findings.push(
          errorAt(
            path,
            'environment',
            'this "${" does not begin a variable; write ${NAME}, ${NAME:-default}, or "$${" for the characters themselves',
          ),
        );
        return match;
      }
      const found = env[name];
      if (found !== undefined && found !== '') {
        secret.add(JSON.stringify(path));
        return found;
      }
      if (fallback !== undefined) return fallback;
      findings.push(
        errorAt(
          path,
          'environment',
          `the environment variable ${name} is not set; set it, or write a default: \${${name}:-…}`,
        ),
      );
      return match;
    });
  const substituted = walk(value, []);
  return { value: substituted, findings, secrets: [...secret], ...secretsAt(secret) };
}

/** @param secret the paths of the values that came from the environment, as JSON */
export function secretsAt(secret: Iterable<string>): Pick<Substituted, 'isSecret' | 'holdsSecret'> {
  const known = new Set(secret);
  return {
    isSecret: (path) => known.size > 0 && known.has(JSON.stringify(path)),
    holdsSecret: (path) => {
      const start = JSON.stringify(path).slice(0, -1);
      return [...known].some((other) => other === `${start}]` || other.startsWith(`${start},`));
    },
  };
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
