import type { Plan } from '../plan/plan.ts';
import { changeSchemas, isMap, isSchema, referencePath, valueAt } from '../plan/schema-walk.ts';
import type { Path } from '../problem/finding.ts';

/** The schemas of a plan as an OpenAPI document has them: all that is referred to stands in its components. */
export interface SchemaBook {
  /** The schema at a path of the root. */
  readonly at: (path: Path) => unknown;
  /** The schemas referred to, by the names that references give them. */
  readonly schemas: () => Iterable<readonly [string, unknown]>;
}

export function createSchemaBook(root: Plan['schemas']): SchemaBook {
  const schemas = new Map<string, unknown>();
  const taken = new Set(['Refusal']);
  const names = new Map<string, string>();
  const nameOf = (path: readonly string[]): string => {
    const key = JSON.stringify(path);
    const known = names.get(key);
    if (known !== undefined) return known;
    // The names that OpenAPI has for components are of these characters.
    const plain = (path[0] === 'schemas' ? path.slice(1) : path).join('.').replace(/[^A-Za-z0-9._-]/g, '_');
    let name = plain;
    for (let turn = 2; taken.has(name); turn += 1) name = `${plain}_${turn}`;
    taken.add(name);
    names.set(key, name);
    schemas.set(name, rewritten(valueAt(root, path)));
    return name;
  };
  const rewritten = (schema: unknown) =>
    changeSchemas(schema, (inner) => {
      const path = typeof inner['$ref'] === 'string' ? referencePath(inner['$ref']) : undefined;
      // A reference from the environment leads nowhere here: it is shown as it is written.
      return path === undefined || !isSchema(valueAt(root, path))
        ? inner
        : { ...inner, $ref: `#/components/schemas/${nameOf(path)}` };
    });
  return {
    at: (path) => {
      const schema = valueAt(root, path);
      return isMap(schema) || typeof schema === 'boolean' ? rewritten(schema) : {};
    },
    schemas: () => schemas.entries(),
  };
}
