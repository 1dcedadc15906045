import { attempt } from '../attempt.ts';
import { parsePointer, pointerStep, valueAt } from '../json-pointer.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import { formOf, keywordsWith } from './keywords.ts';

/** All schemas of a manifest, and of the files that they refer to, in one value whose references stay inside of it. */
export interface SchemaRoot {
  readonly schemas: Manifest['schemas'];
  readonly routes: Manifest['routes'];
  /** By their paths relative to the manifest. */
  readonly files: Readonly<Record<string, unknown>>;
}

const DATA_KEYWORDS = new Set(keywordsWith({ isData: true }));
const SCHEMA_MAPS = new Set(keywordsWith({ holds: 'map' }));
const IN_PLACE_KEYWORDS = keywordsWith({ appliesTo: 'value' });
const IN_PLACE = new Set(['$ref', ...IN_PLACE_KEYWORDS]);
const CONDITIONS = new Set(keywordsWith({ isCondition: true }));

export function isDataKeyword(keyword: string): boolean {
  return DATA_KEYWORDS.has(keyword);
}

/** A schema that is a map, with its path. */
export interface LocatedSchema {
  readonly schema: Record<string, unknown>;
  readonly at: Path;
  /** The schema around it, and the keyword of that one that holds it; undefined for the outermost schema. */
  readonly holder?: LocatedSchema | undefined;
  readonly keyword?: string | undefined;
}

/** Returns a schema and its subschemas. */
export function schemasWithin(schema: unknown, at: Path): readonly LocatedSchema[] {
  const found: LocatedSchema[] = [];
  collectSchemas(schema, at, found);
  return found;
}

/** Returns the schemas of a route of a manifest: those of its body and of its parameters. */
export function schemasOfRoute(entry: unknown, at: Path): LocatedSchema[] {
  const parameters = ['params', 'query', 'headers'].flatMap((section) => {
    const path = [section, 'properties'];
    const properties = valueAt(entry, path);
    return isMap(properties)
      ? Object.keys(properties).flatMap((name) => schemasWithin(properties[name], [...at, ...path, name]))
      : [];
  });
  return [...schemasWithin(valueAt(entry, ['body', 'schema']), [...at, 'body', 'schema']), ...parameters];
}

/** Adds to a list, because nested generators would take most of the time that the check of a schema takes. */
function collectSchemas(schema: unknown, at: Path, found: LocatedSchema[], holder?: LocatedSchema, keyword?: string) {
  if (!isMap(schema)) return;
  const located = { schema, at, holder, keyword };
  found.push(located);
  for (const key of Object.keys(schema)) {
    const form = formOf(key);
    if (form === 'schema') collectSchemas(schema[key], [...at, key], found, located, key);
    else if (form === 'schemas' || form === 'schemas by name') {
      const members = schema[key];
      const isHolder = form === 'schemas' ? Array.isArray(members) : isMap(members);
      if (isHolder)
        for (const step of stepsOf(members as object))
          collectSchemas((members as Record<string | number, unknown>)[step], [...at, key, step], found, located, key);
    }
  }
}

/** Returns the schema at a path, its subschemas, and those that references lead to, until there are more than `limit`. */
export function reachableSchemas(root: unknown, path: Path, limit: number): LocatedSchema[] {
  const reached: LocatedSchema[] = [];
  const pending = [path];
  const seen = new Set<unknown>();
  for (const at of pending) {
    const schema = valueAt(root, at);
    if (seen.has(schema)) continue;
    seen.add(schema);
    const schemas = schemasWithin(schema, at);
    for (const one of schemas) reached.push(one);
    if (reached.length > limit) return reached;
    for (const target of targetsIn(schemas)) pending.push(target);
  }
  return reached;
}

/** Returns the paths that the references in schemas lead to. */
export function targetsIn(schemas: readonly LocatedSchema[]): Path[] {
  const targets: Path[] = [];
  for (const { schema } of schemas) {
    const reference = Object.hasOwn(schema, '$ref') ? schema['$ref'] : undefined;
    const target = typeof reference === 'string' ? referencePath(reference) : undefined;
    if (target !== undefined) targets.push(target);
  }
  return targets;
}

/** True if the path from a schema leads to one of its subschemas. */
export function leadsToSchema(schema: unknown, [key, ...rest]: Path): boolean {
  if (key === undefined) return isSchema(schema);
  const value = isMap(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined;
  const form = formOf(String(key));
  if (form === 'schema') return leadsToSchema(value, rest);
  const [step, ...inside] = rest;
  const isHolder = (form === 'schemas' && Array.isArray(value)) || (form === 'schemas by name' && isMap(value));
  return isHolder && step !== undefined && leadsToSchema(valueAt(value, [step]), inside);
}

/** Returns a copy in which `change` replaces every schema, subschemas first. With `isNames`, the author chose the keys of `holder`. */
export function mapSchemas<T>(
  holder: T,
  change: (schema: Record<string, unknown>, path: Path) => Record<string, unknown>,
  isNames = false,
  path: Path = [],
): T {
  if (Array.isArray(holder)) return holder.map((item, index) => mapSchemas(item, change, false, [...path, index])) as T;
  if (!isMap(holder)) return holder;
  const entries = Object.entries(holder).map(([key, value]) => {
    if (!isNames && DATA_KEYWORDS.has(key)) return [key, value];
    return [key, mapSchemas(value, change, !isNames && SCHEMA_MAPS.has(key), [...path, key])];
  });
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  return (isNames ? copy : change(copy, path)) as T;
}

/** A schema that validates the same value as another one, and the keyword of that one that holds it or refers to it. */
export interface InPlaceSchema {
  readonly keyword: string;
  readonly path: Path;
}

const NONE: readonly InPlaceSchema[] = [];

/** Returns the schemas that validate the same value as the one at a path: its reference, and its branches. */
export function inPlaceSchemasOf(root: unknown, path: Path): readonly InPlaceSchema[] {
  const schema = valueAt(root, path);
  const hasBranches = isMap(schema) && Object.keys(schema).some((keyword) => IN_PLACE.has(keyword));
  return hasBranches ? [...branchesOf(schema, path)] : NONE;
}

function* branchesOf(schema: Record<string, unknown>, path: Path): Generator<InPlaceSchema> {
  const target = typeof schema['$ref'] === 'string' ? referencePath(schema['$ref']) : undefined;
  if (target !== undefined) yield { keyword: '$ref', path: target };
  for (const keyword of IN_PLACE_KEYWORDS) {
    const inside = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const isList = Array.isArray(inside) || (SCHEMA_MAPS.has(keyword) && isMap(inside));
    if (isList) for (const step of stepsOf(inside)) yield { keyword, path: [...path, keyword, step] };
    else if (inside !== undefined) yield { keyword, path: [...path, keyword] };
  }
}

/** Returns the schema at a path, and all that validate the same value through keywords that are followed, each once. */
export function schemasInPlace(
  root: unknown,
  path: Path,
  isFollowed: (keyword: string) => boolean,
  seen = new Set<unknown>(),
): LocatedSchema[] {
  const schema = valueAt(root, path);
  if (!isMap(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const followed = inPlaceSchemasOf(root, path).filter(({ keyword }) => isFollowed(keyword));
  return [{ schema, at: path }, ...followed.flatMap((next) => schemasInPlace(root, next.path, isFollowed, seen))];
}

function unconditionalSchemas(root: unknown, path: Path): LocatedSchema[] {
  return schemasInPlace(root, path, (keyword) => !CONDITIONS.has(keyword));
}

/** Returns the JSON types that a schema names for its value, except in conditions. */
export function typesAt(root: unknown, path: Path): Set<string> {
  const types = unconditionalSchemas(root, path).flatMap(({ schema }) => [
    ...[schema['type']].flat().filter((type) => typeof type === 'string'),
    ...listedValues(schema).map((value) => typeof value),
  ]);
  return new Set(types);
}

/** Returns the texts of the values that a schema lists, itself or in place, except in conditions. */
export function listedValuesAt(root: unknown, path: Path): Set<string> {
  return new Set(unconditionalSchemas(root, path).flatMap(({ schema }) => listedValues(schema).map(String)));
}

function listedValues(schema: Record<string, unknown>): readonly unknown[] {
  return [...('const' in schema ? [schema['const']] : []), ...(Array.isArray(schema['enum']) ? schema['enum'] : [])];
}

/** Parses a reference such as `#/schemas/Name`: a JSON Pointer as a URI fragment (RFC 6901 section 6). */
export function referencePath(reference: string): string[] | undefined {
  return reference.startsWith('#/') ? attempt(() => parsePointer(decodeURIComponent(reference))) : undefined;
}

/** Formats the reference that leads to a path. */
export function referenceTo(path: Path): string {
  return `#${path.map((step) => `/${encodeURIComponent(pointerStep(step).slice(1))}`).join('')}`;
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
