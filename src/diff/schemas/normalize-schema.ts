import { keywordsWith } from '../../plan/schema/keywords.ts';
import type { SchemaRoot } from '../../plan/schema/schema-bundle.ts';
import { isMap, referencePath, valueAt } from '../../plan/schema/schema-walk.ts';
import type { Path } from '../../problem/finding.ts';

/** Keywords that do not affect validation. */
const ANNOTATIONS = new Set(keywordsWith({ isAnnotation: true }));
const DEFINITIONS = new Set(['$defs', 'definitions']);
const DATA_KEYWORDS = new Set(keywordsWith({ isData: true }));
/** Keywords whose value is a map with names that the author chooses. */
const MAP_KEYWORDS = new Set([...keywordsWith({ holds: 'map' }), 'dependentRequired']);
const SET_KEYWORDS = new Set(['enum', 'required', 'type']);

/** Serializes a schema without annotations, with its references resolved. Two equal results mean equal schemas. */
export function normalizeSchema(root: SchemaRoot, path: Path): string {
  return JSON.stringify(normalizeNode(root, valueAt(root, path), []));
}

function normalizeNode(root: SchemaRoot, schema: unknown, openReferences: readonly string[], isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => normalizeNode(root, item, openReferences));
  if (!isMap(schema)) return schema;
  const entries = Object.entries(schema)
    .filter(([key]) => isNames || !(ANNOTATIONS.has(key) || DEFINITIONS.has(key)))
    .map(([key, value]): [string, unknown] => {
      if (isNames) return [key, normalizeNode(root, value, openReferences)];
      if (key === '$ref' && typeof value === 'string') return [key, normalizeReference(root, value, openReferences)];
      if (SET_KEYWORDS.has(key) && Array.isArray(value)) return [key, value.map((item) => JSON.stringify(item)).sort()];
      const hasNames = MAP_KEYWORDS.has(key);
      return [key, DATA_KEYWORDS.has(key) && !hasNames ? value : normalizeNode(root, value, openReferences, hasNames)];
    });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Resolves a reference. A reference to an enclosing schema becomes the number of levels up to that schema. */
function normalizeReference(root: SchemaRoot, reference: string, openReferences: readonly string[]): unknown {
  const path = referencePath(reference);
  if (path === undefined || openReferences.includes(reference))
    return `${openReferences.length - openReferences.indexOf(reference)} up`;
  return normalizeNode(root, valueAt(root, path), [...openReferences, reference]);
}
