import { parsePointer, pointerStep } from '../../json-pointer.ts';
import type { Path } from '../../problem/finding.ts';

/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'default', 'dependentRequired', 'enum', 'examples']);
/** Keywords whose value is a map with names of the author's own. */
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);
/** Keywords whose schemas judge the very same value. */
const IN_PLACE = ['allOf', 'anyOf', 'dependentSchemas', 'else', 'if', 'not', 'oneOf', 'then'];

/** Returns true for a keyword whose value is data, not a schema. */
export function isDataKeyword(keyword: string): boolean {
  return DATA.has(keyword);
}

/** Every keyword of a schema and of the schemas inside of it. */
export function* keywordsOf(schema: unknown, path: Path): Generator<{ key: string; value: unknown; at: Path }> {
  if (Array.isArray(schema)) {
    for (const [index, item] of schema.entries()) yield* keywordsOf(item, [...path, index]);
  } else if (isMap(schema)) {
    for (const [key, value] of Object.entries(schema)) {
      const at = [...path, key];
      yield { key, value, at };
      if (NAMED.has(key) && isMap(value))
        for (const [name, inside] of Object.entries(value)) yield* keywordsOf(inside, [...at, name]);
      else if (!DATA.has(key)) yield* keywordsOf(value, at);
    }
  }
}

/**
 * A copy of what holds schemas, in which each schema is what `change` makes of it, from the inside out.
 *
 * @param isNames the keys of the holder itself are names of the author's own
 */
export function mapSchemas<T>(
  holder: T,
  change: (schema: Record<string, unknown>, path: Path) => Record<string, unknown>,
  isNames = false,
  path: Path = [],
): T {
  if (Array.isArray(holder)) return holder.map((item, index) => mapSchemas(item, change, false, [...path, index])) as T;
  if (!isMap(holder)) return holder;
  const entries = Object.entries(holder).map(([key, value]) => {
    if (!isNames && DATA.has(key)) return [key, value];
    return [key, mapSchemas(value, change, !isNames && NAMED.has(key), [...path, key])];
  });
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  return (isNames ? copy : change(copy, path)) as T;
}

/** The schemas that judge the same value as the one at a path: what it refers to, and its branches. */
export function* inPlaceSchemasOf(root: unknown, path: Path): Generator<{ keyword: string; path: Path }> {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return;
  const target = typeof schema['$ref'] === 'string' ? referencePath(schema['$ref']) : undefined;
  if (target !== undefined) yield { keyword: '$ref', path: target };
  for (const keyword of IN_PLACE) {
    const inside = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const isList = Array.isArray(inside) || (keyword === 'dependentSchemas' && isMap(inside));
    if (isList) for (const step of stepsOf(inside)) yield { keyword, path: [...path, keyword, step] };
    else if (inside !== undefined) yield { keyword, path: [...path, keyword] };
  }
}

/** The JSON types that a schema speaks of for the value it judges; those of what must not be do not count. */
export function typesAt(root: unknown, path: Path, seen = new Set<string>()): Set<string> {
  const types = new Set<string>();
  const schema = valueAt(root, path);
  const place = JSON.stringify(path.map(String));
  if (!isMap(schema) || seen.has(place)) return types;
  seen.add(place);
  for (const type of [schema['type']].flat()) types.add(String(type));
  const values = [
    ...('const' in schema ? [schema['const']] : []),
    ...(Array.isArray(schema['enum']) ? schema['enum'] : []),
  ];
  for (const value of values) types.add(typeof value);
  for (const { keyword, path: at } of inPlaceSchemasOf(root, path))
    if (keyword !== 'not' && keyword !== 'if') for (const type of typesAt(root, at, seen)) types.add(type);
  return types;
}

/** The path that `#/schemas/Name` stands for: a JSON Pointer as a URI fragment (RFC 6901 section 6). */
export function referencePath(reference: string): string[] | undefined {
  if (!reference.startsWith('#/')) return undefined;
  try {
    return parsePointer(decodeURIComponent(reference));
  } catch {
    return undefined;
  }
}

/** The reference that stands for a path. */
export function referenceTo(path: Path): string {
  return `#${path.map((step) => `/${encodeURIComponent(pointerStep(step).slice(1))}`).join('')}`;
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

export function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isMap(value);
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function stepsOf(list: object): (string | number)[] {
  return Array.isArray(list) ? [...list.keys()] : Object.keys(list);
}
