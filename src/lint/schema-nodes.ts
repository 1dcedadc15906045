import type { Manifest } from '../manifest/manifest.generated.ts';
import { SCHEMA_KEYWORDS } from '../plan/schema/keywords.ts';
import type { Path } from '../problem/finding.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema that is a map, where it stands in the manifest. */
export interface SchemaNode {
  readonly path: Path;
  readonly schema: Schema;
  /** It judges the very value that another one judges too, as in `allOf`: it need not say everything by itself. */
  readonly isInPlace: boolean;
  /** It says what must not be, or when something holds: it refuses nothing by itself. */
  readonly isCondition: boolean;
}

export function* schemaNodes({ schemas, routes }: Manifest): Generator<SchemaNode> {
  const whole = { isInPlace: false, isCondition: false };
  for (const [name, schema] of Object.entries(schemas)) yield* nodesOf(schema, ['schemas', name], whole);
  for (const [index, { params, query, headers, body }] of routes.entries()) {
    const path = ['routes', index];
    for (const [name, held] of Object.entries({ params, query, headers }))
      if (held !== undefined) yield* memberNodes(held.properties, [...path, name, 'properties'], whole);
    if (body?.schema !== undefined) yield* nodesOf(body.schema, [...path, 'body', 'schema'], whole);
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

function* memberNodes(held: unknown, path: Path, role: SchemaRole): Generator<SchemaNode> {
  if (Array.isArray(held)) for (const [index, item] of held.entries()) yield* nodesOf(item, [...path, index], role);
  else if (isMap(held)) for (const [name, item] of Object.entries(held)) yield* nodesOf(item, [...path, name], role);
}

/** Whether a schema says that a value may be of this type. */
export function allowsType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

export function isMap(value: unknown): value is Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
