import { canonicalJson } from '../plan/schema/canonical-json.ts';
import type { SchemaRoot } from '../plan/schema/schema-bundle.ts';
import { valueAt } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
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
  const context = { root, recursive, isCondition: false, keepsEvaluated: false };
  const normalize = (target: unknown) => canonicalJson(normalizeNode(target, context));
  recursive.prepare(schema, normalize);
  return normalize(schema);
}
