import { createHash } from 'node:crypto';
import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import { keywordsOf } from '../../engine/schema/schema-walk.ts';
import { targetOf } from './evaluate-schema.ts';

const targetDigests = new WeakMap<SchemaRoot, Map<string, string>>();

/** Returns a text that is equal for schemas written alike, with all that they refer to. Most routes of two manifests have such schemas. */
export function schemaContent(root: SchemaRoot, path: Path): string {
  const schema = valueAt(root, path);
  const text = JSON.stringify(schema);
  // Thousands of routes may have a schema, and few of these refer to others.
  const references = text?.includes('"$ref"') ? referencesIn(schema) : [];
  return `${text} ${references.map((reference) => digestOf(root, reference)).join(' ')}`;
}

/** Returns a digest of the schema that a reference leads to, and of those that it refers to itself. */
export function digestOf(root: SchemaRoot, reference: string): string {
  const digests = targetDigests.get(root) ?? new Map<string, string>();
  targetDigests.set(root, digests);
  const known = digests.get(reference);
  if (known !== undefined) return known;
  const texts = [...reachedFrom(root, [reference])].map((name) => [name, targetOf(root, name)]);
  const found = digest(JSON.stringify(texts));
  digests.set(reference, found);
  return found;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Returns some references, and all that their schemas lead to. */
export function reachedFrom(root: SchemaRoot, references: readonly string[]): Set<string> {
  const reached = new Set(references);
  for (const name of reached) for (const next of referencesIn(targetOf(root, name))) reached.add(next);
  return reached;
}

export function referencesIn(schema: unknown): string[] {
  return [...keywordsOf(schema, [])].flatMap(({ key, value }) =>
    key === '$ref' && typeof value === 'string' ? [value] : [],
  );
}
