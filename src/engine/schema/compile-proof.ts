import { valueAt } from '../json-pointer.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isDataKeyword, isSchema, type LocatedSchema, referencePath, schemasWithin } from './schema-walk.ts';

/**
 * Keywords that compile with every value that JSON Schema's own schema and the findings allow. Their schemas, if they hold
 * any, must compile too.
 */
const CERTAIN = new Set([
  ...[
    'type',
    'const',
    'enum',
    'format',
    'required',
    'dependentRequired',
    'uniqueItems',
    'pattern',
    'contentEncoding',
    'contentMaxBytes',
  ],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['title', 'description', 'errorMessage', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'],
  ...['additionalProperties', 'propertyNames', 'items', 'contains', 'not'],
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  ...['properties', 'patternProperties'],
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
        if (CERTAIN.has(keyword)) continue;
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
