import { formatPointer } from '../../json-pointer.ts';
import type { Path } from '../../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isDataKeyword, isMap, referencePath, valueAt } from './schema-walk.ts';

/**
 * Keywords that compile with every value that JSON Schema's own schema and the findings allow. Their schemas, if they hold
 * any, must compile too.
 */
const CERTAIN = new Set([
  ...[
    'type',
    'const',
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
]);
const SCHEMA_KEYWORDS = new Set(['additionalProperties', 'propertyNames', 'items', 'contains', 'not']);
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMA_MAPS = new Set(['properties', 'patternProperties']);

/** A larger schema is compiled at once: its first request would wait for too long. */
const MAX_SCHEMAS = 200;

/**
 * Returns true if the schema at a path certainly compiles: it is small, and so common that its keywords prove it. Compiling a
 * schema takes a hundred times as long. Any other schema must be compiled, to see if it does.
 *
 * @param path a schema without findings, which refers only to others without findings
 */
export function certainlyCompiles(root: SchemaRoot, path: Path): boolean {
  const pending: unknown[] = [valueAt(root, path)];
  const reached = new Set<string>();
  for (let count = 0; pending.length > 0; count += 1) {
    const schema = pending.pop();
    if (typeof schema === 'boolean') continue;
    if (!isMap(schema) || count === MAX_SCHEMAS) return false;
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === '$ref') {
        const target = typeof value === 'string' ? referencePath(value) : undefined;
        // Nothing has checked a schema inside of data, such as an example.
        if (target === undefined || target.slice(2).some(isDataKeyword)) return false;
        const pointer = formatPointer(target);
        if (!reached.has(pointer)) pending.push(valueAt(root, target));
        reached.add(pointer);
      } else if (keyword === 'enum') {
        if (!Array.isArray(value) || value.length === 0) return false;
      } else if (SCHEMA_KEYWORDS.has(keyword)) pending.push(value);
      else if (SCHEMA_LISTS.has(keyword) || SCHEMA_MAPS.has(keyword)) pending.push(...Object.values(value as object));
      else if (!CERTAIN.has(keyword)) return false;
    }
  }
  return true;
}
