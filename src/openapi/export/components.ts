import { valueAt } from '../../engine/json-pointer.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { isMap, isSchema, mapSchemas, referencePath } from '../../engine/schema/schema-walk.ts';

export type OpenApiComponents = ReturnType<typeof createOpenApiComponents>;

/** Returns the schemas of a plan for an OpenAPI document. Every referenced schema becomes a component. */
export function createOpenApiComponents(root: Plan['schemas']) {
  const schemas = new Map<string, unknown>();
  const usedNames = new Set(['Refusal']);
  const names = new Map<string, string>();
  const nameOf = (path: readonly string[]) => {
    const key = JSON.stringify(path);
    const known = names.get(key);
    if (known !== undefined) return known;
    // OpenAPI allows only these characters in component names.
    const base = (path[0] === 'schemas' ? path.slice(1) : path).join('.').replace(/[^A-Za-z0-9._-]/g, '_');
    let name = base;
    for (let number = 2; usedNames.has(name); number += 1) name = `${base}_${number}`;
    usedNames.add(name);
    names.set(key, name);
    schemas.set(name, rewriteReferences(valueAt(root, path)));
    return name;
  };
  const rewriteReferences = (schema: unknown) =>
    mapSchemas(schema, (inner) => {
      const path = typeof inner['$ref'] === 'string' ? referencePath(inner['$ref']) : undefined;
      // A reference from the environment is redacted and resolves to nothing, so it stays unchanged.
      return path === undefined || !isSchema(valueAt(root, path))
        ? withItems(inner)
        : { ...inner, $ref: `#/components/schemas/${nameOf(path)}` };
    });
  return {
    schemaAt: (path: Path): unknown => {
      const schema = valueAt(root, path);
      return isMap(schema) || typeof schema === 'boolean' ? rewriteReferences(schema) : {};
    },
    /** The referenced schemas, by component name. */
    schemas,
  };
}

/** Adds the schema of the items to a list that may have any, because some readers require one. */
function withItems(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return schema['type'] === 'array' && schema['items'] === undefined ? { ...schema, items: {} } : schema;
}
