import { valueAt } from '../json-pointer.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isDataKeyword, isSchema, type LocatedSchema, referencePath, schemasWithin } from './schema-walk.ts';

/**
 * Keywords with values that the findings allow, but which may still not compile. All others compile, if the schemas that they hold
 * do. A reference compiles if its target does.
 */
const UNCERTAIN = new Set([
  ...['$ref', '$schema', '$defs', 'definitions', 'if', 'then', 'else', 'dependentSchemas'],
  ...['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'],
]);

/** A larger schema is compiled at once: its first request would wait for too long. */
const MAX_SCHEMAS = 200;

/**
 * Returns true if a schema certainly compiles: it is small, and so common that its keywords prove it. Compiling a schema
 * takes a hundred times as long. Any other schema must be compiled, to see if it does.
 *
 * @param schemas a schema without findings and its subschemas; it refers only to others without findings
 */
export function certainlyCompiles(root: SchemaRoot, schemas: readonly LocatedSchema[]): boolean {
  const pending = [schemas];
  const reached = new Set<unknown>();
  let count = 0;
  for (const list of pending) {
    count += list.length;
    if (count > MAX_SCHEMAS) return false;
    for (const { schema } of list)
      for (const keyword of Object.keys(schema)) {
        if (!UNCERTAIN.has(keyword)) continue;
        const reference = keyword === '$ref' ? schema['$ref'] : undefined;
        const target = typeof reference === 'string' ? referencePath(reference) : undefined;
        // Nothing has checked a schema inside of data, such as an example.
        if (target === undefined || target.slice(2).some(isDataKeyword)) return false;
        const referenced = valueAt(root, target);
        if (!isSchema(referenced)) return false;
        if (!reached.has(referenced)) pending.push(schemasWithin(referenced, target));
        reached.add(referenced);
      }
  }
  return true;
}
