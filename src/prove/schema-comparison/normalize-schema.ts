import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { canonicalJson } from '../../engine/schema/canonical-json.ts';
import type { SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import { normalizeNode } from './normal-form.ts';
import { RecursiveSchemas } from './recursive-schemas.ts';

/**
 * Serializes the normal form of a schema: without annotations and keywords that validate nothing, with its references
 * resolved. Two equal results mean that the schemas accept the same values.
 */
export function normalizeSchema(root: SchemaRoot, path: Path): string {
  return normalizeSubschema(root, valueAt(root, path));
}

const recursiveSchemas = new WeakMap<SchemaRoot, RecursiveSchemas>();

/** Serializes the normal form of a schema that is part of a root. */
export function normalizeSubschema(root: SchemaRoot, schema: unknown): string {
  let recursive = recursiveSchemas.get(root);
  if (recursive === undefined) {
    recursive = new RecursiveSchemas(root);
    recursiveSchemas.set(root, recursive);
  }
  const context = { root, recursive, isCondition: false, isInside: false };
  const normalize = (target: unknown, keepsEvaluated: boolean) =>
    canonicalJson(normalizeNode(target, { ...context, keepsEvaluated }));
  recursive.prepare(schema, normalize);
  return normalize(schema, false);
}
