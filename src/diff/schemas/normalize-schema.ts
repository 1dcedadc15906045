import { keywordsWith } from '../../plan/schema/keywords.ts';
import type { SchemaRoot } from '../../plan/schema/schema-bundle.ts';
import { isMap, referencePath, valueAt } from '../../plan/schema/schema-walk.ts';
import type { Path } from '../../problem/finding.ts';

const ANNOTATIONS = new Set(keywordsWith({ isAnnotation: true }));
const DEFINITIONS = new Set(['$defs', 'definitions']);
const DATA_KEYWORDS = new Set(keywordsWith({ isData: true }));
/** Keywords whose value is a map with names that the author chooses. */
const NAMED = new Set([...keywordsWith({ holds: 'map' }), 'dependentRequired']);
const SETS = new Set(['enum', 'required', 'type']);

/** A text that is equal for schemas that say the same in the same words: what they refer to is put in. */
export function normalizeSchema(root: SchemaRoot, path: Path): string {
  return JSON.stringify(normalizeNode(root, valueAt(root, path), []));
}

function normalizeNode(root: SchemaRoot, schema: unknown, open: readonly string[], isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => normalizeNode(root, item, open));
  if (!isMap(schema)) return schema;
  const entries = Object.entries(schema)
    .filter(([key]) => isNames || !(ANNOTATIONS.has(key) || DEFINITIONS.has(key)))
    .map(([key, value]): [string, unknown] => {
      if (isNames) return [key, normalizeNode(root, value, open)];
      if (key === '$ref' && typeof value === 'string') return [key, normalizeReference(root, value, open)];
      if (SETS.has(key) && Array.isArray(value)) return [key, value.map((item) => JSON.stringify(item)).sort()];
      return [
        key,
        DATA_KEYWORDS.has(key) && !NAMED.has(key) ? value : normalizeNode(root, value, open, NAMED.has(key)),
      ];
    });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A circle ends where it began. */
function normalizeReference(root: SchemaRoot, reference: string, open: readonly string[]): unknown {
  const path = referencePath(reference);
  if (path === undefined || open.includes(reference)) return `${open.length - open.indexOf(reference)} up`;
  return normalizeNode(root, valueAt(root, path), [...open, reference]);
}
