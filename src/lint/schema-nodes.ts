import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema that is a map, with its path in the manifest. */
export interface SchemaNode {
  readonly path: Path;
  readonly schema: Schema;
  /** True if another schema applies to the same value, as in `allOf`, and may contain the keywords that this one lacks. */
  readonly isInPlace: boolean;
  /** True below `if` and `not`, where a schema that does not match refuses nothing. */
  readonly isCondition: boolean;
}

/** Keywords whose value is a schema. `LISTS` contain lists of schemas, and `MAPS` contain maps of schemas. */
const ONE = [
  'additionalProperties',
  'contains',
  'contentSchema',
  'items',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const IN_PLACE = ['else', 'then'];
const CONDITIONS = ['if', 'not'];
const LISTS = ['prefixItems'];
const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['$defs', 'definitions', 'patternProperties', 'properties'];
const IN_PLACE_MAPS = ['dependentSchemas'];

/** Yields all schemas of a manifest, including nested ones. */
export function* schemaNodes({ schemas, routes }: Manifest): Generator<SchemaNode> {
  const root = { isInPlace: false, isCondition: false };
  for (const [name, schema] of Object.entries(schemas)) yield* nodesOf(schema, ['schemas', name], root);
  for (const [index, { params, query, headers, body }] of routes.entries()) {
    const path = ['routes', index];
    for (const [name, section] of Object.entries({ params, query, headers }))
      if (section !== undefined) yield* memberNodes(section.properties, [...path, name, 'properties'], root);
    if (body?.schema !== undefined) yield* nodesOf(body.schema, [...path, 'body', 'schema'], root);
  }
}

type SchemaRole = Pick<SchemaNode, 'isInPlace' | 'isCondition'>;

function* nodesOf(schema: unknown, path: Path, role: SchemaRole): Generator<SchemaNode> {
  if (!isMap(schema)) return;
  yield { path, schema, ...role };
  const child = { ...role, isInPlace: false };
  const inPlace = { ...role, isInPlace: true };
  const condition = { isInPlace: true, isCondition: true };
  const present = (names: readonly string[]) => names.filter((name) => Object.hasOwn(schema, name));
  for (const name of present(ONE)) yield* nodesOf(schema[name], [...path, name], child);
  for (const name of present(IN_PLACE)) yield* nodesOf(schema[name], [...path, name], inPlace);
  for (const name of present(CONDITIONS)) yield* nodesOf(schema[name], [...path, name], condition);
  for (const name of present([...LISTS, ...MAPS])) yield* memberNodes(schema[name], [...path, name], child);
  for (const name of present([...IN_PLACE_LISTS, ...IN_PLACE_MAPS]))
    yield* memberNodes(schema[name], [...path, name], inPlace);
}

function* memberNodes(members: unknown, path: Path, role: SchemaRole): Generator<SchemaNode> {
  if (Array.isArray(members))
    for (const [index, item] of members.entries()) yield* nodesOf(item, [...path, index], role);
  else if (isMap(members))
    for (const [name, item] of Object.entries(members)) yield* nodesOf(item, [...path, name], role);
}

/** True if `type` of a schema includes this type. */
export function allowsType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

export function isMap(value: unknown): value is Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
