import type { Manifest } from '../manifest/manifest.generated.ts';
import { SCHEMA_KEYWORDS } from '../plan/schema/keywords.ts';
import type { Path } from '../problem/finding.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema that is a map, with its path in the manifest. */
export interface SchemaNode {
  readonly path: Path;
  readonly schema: Schema;
  /** True if another schema applies to the same value, as in `allOf`, and may contain the keywords that this one lacks. */
  readonly isInPlace: boolean;
  /** True below `if` and `not`: a request may be valid although it does not match such a schema. */
  readonly isCondition: boolean;
}

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
  for (const [keyword, { holds, appliesTo, isCondition = false }] of SCHEMA_KEYWORDS) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const inner = { isInPlace: appliesTo === 'value', isCondition: role.isCondition || isCondition };
    const nodes = holds === 'schema' ? nodesOf : memberNodes;
    yield* nodes(schema[keyword], [...path, keyword], inner);
  }
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
