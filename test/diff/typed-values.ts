import { definitionOf, manifestSchema, type SchemaNode } from '../support/manifest-schema.ts';

/** A value of a manifest: the map or list that holds it, and its definition in the schema, such as `Duration`. */
export interface TypedValue {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
  /** The keys from the root, with `*` for any name or index. */
  readonly path: string;
  readonly definitions: readonly string[];
  readonly node: SchemaNode;
}

/** Yields every value of a manifest with its place in the schema, outermost first. JSON Schemas are not entered. */
export function* typedValues(manifest: object): Generator<TypedValue> {
  yield* valuesOf(manifest, manifestSchema, []);
}

function* valuesOf(value: unknown, node: SchemaNode, path: readonly string[]): Generator<TypedValue> {
  if (value === null || typeof value !== 'object' || isJsonSchema(node)) return;
  for (const { properties = {}, additionalProperties, items } of branchesOf(node)) {
    for (const [key, inner] of Object.entries(value)) {
      const child = Array.isArray(value) ? items : (properties[key] ?? additionalProperties);
      if (typeof child !== 'object') continue;
      const at = [...path, key in properties ? key : '*'];
      const holder = value as TypedValue['holder'];
      yield { holder, key, path: at.join('.'), definitions: definitionsOf(child), node: child };
      yield* valuesOf(inner, child, at);
    }
  }
}

function isJsonSchema({ $ref }: SchemaNode): boolean {
  return $ref === '#/$defs/JsonSchema';
}

function branchesOf(node: SchemaNode): SchemaNode[] {
  const target = definitionOf(node);
  return [node, ...(target === undefined ? [] : branchesOf(target)), ...(node.anyOf ?? []).flatMap(branchesOf)];
}

function definitionsOf(node: SchemaNode): string[] {
  return branchesOf(node).flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref.replace('#/$defs/', '')]));
}
