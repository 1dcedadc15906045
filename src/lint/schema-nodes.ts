import type { Manifest } from '../manifest/manifest.generated.ts';
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

/** Keywords that hold a schema, a list of them, or a map of them. */
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

function* nodesOf(schema: unknown, path: Path, standing: SchemaRole): Generator<SchemaNode> {
  if (!isMap(schema)) return;
  yield { path, schema, ...standing };
  const whole = { ...standing, isInPlace: false };
  const part = { ...standing, isInPlace: true };
  const condition = { isInPlace: true, isCondition: true };
  const inside = (names: readonly string[]) => names.filter((name) => Object.hasOwn(schema, name));
  for (const name of inside(ONE)) yield* nodesOf(schema[name], [...path, name], whole);
  for (const name of inside(IN_PLACE)) yield* nodesOf(schema[name], [...path, name], part);
  for (const name of inside(CONDITIONS)) yield* nodesOf(schema[name], [...path, name], condition);
  for (const name of inside([...LISTS, ...MAPS])) yield* memberNodes(schema[name], [...path, name], whole);
  for (const name of inside([...IN_PLACE_LISTS, ...IN_PLACE_MAPS]))
    yield* memberNodes(schema[name], [...path, name], part);
}

function* memberNodes(held: unknown, path: Path, standing: SchemaRole): Generator<SchemaNode> {
  if (Array.isArray(held)) for (const [index, item] of held.entries()) yield* nodesOf(item, [...path, index], standing);
  else if (isMap(held))
    for (const [name, item] of Object.entries(held)) yield* nodesOf(item, [...path, name], standing);
}

/** Whether a schema says that a value may be of this type. */
export function allowsType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

export function isMap(value: unknown): value is Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
