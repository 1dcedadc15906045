import type { Plan } from '../plan/plan.ts';
import { isMap, isSchema, mapSchemas, referencePath, valueAt } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';

/** The schemas of a plan as an OpenAPI document has them: all that is referred to stands in its components. */
export interface OpenApiComponents {
  /** The schema at a path of the root. */
  readonly schemaAt: (path: Path) => unknown;
  /** The schemas referred to, by the names that references give them. */
  readonly schemas: () => Iterable<readonly [string, unknown]>;
}

export function createOpenApiComponents(root: Plan['schemas']): OpenApiComponents {
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
    mapSchemas(schema, (inner) => {
      const path = typeof inner['$ref'] === 'string' ? referencePath(inner['$ref']) : undefined;
      // A reference from the environment leads nowhere here: it is shown as it is written.
      return path === undefined || !isSchema(valueAt(root, path))
        ? inner
        : { ...inner, $ref: `#/components/schemas/${nameOf(path)}` };
    });
  return {
    schemaAt: (path) => {
      const schema = valueAt(root, path);
      return isMap(schema) || typeof schema === 'boolean' ? rewritten(schema) : {};
    },
    schemas: () => schemas.entries(),
  };
}
