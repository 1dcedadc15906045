import { createHash } from 'node:crypto';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { type SchemaRoot, schemasWithin } from '../../engine/schema/schema-walk.ts';
import { targetOf } from './evaluate-schema.ts';

/** Returns a text that is equal for schemas written alike, with all that they refer to. Most routes of two manifests have such schemas. */
export function schemaContent(root: SchemaRoot, path: Path): string {
  const schema = valueAt(root, path);
  const text = JSON.stringify(schema);
  // Thousands of routes may have a schema, and few of these refer to others.
  const references = text?.includes('"$ref"') ? referencesIn(schema) : [];
  return `${text} ${references.map((reference) => digestOf(root, reference)).join(' ')}`;
}

/** Yields every keyword of a schema and of its subschemas, with its value. */
export function* keywordsOf(schema: unknown): Generator<{ readonly key: string; readonly value: unknown }> {
  for (const { schema: inside } of schemasWithin(schema, []))
    for (const [key, value] of Object.entries(inside)) yield { key, value };
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

export function referencesIn(schema: unknown): string[] {
  return [...keywordsOf(schema)].flatMap(({ key, value }) =>
    key === '$ref' && typeof value === 'string' ? [value] : [],
  );
}

/** Returns a function that computes a value once for each reference of a root. */
export function oncePerReference<Value>(
  compute: (root: SchemaRoot, reference: string) => Value,
): (root: SchemaRoot, reference: string) => Value {
  const byRoot = new WeakMap<SchemaRoot, Map<string, Value>>();
  return (root, reference) => {
    const known = getOrCreate(byRoot, root, () => new Map());
    return getOrCreate(known, reference, () => compute(root, reference));
  };
}

const directReferences = oncePerReference((root, reference) => referencesIn(targetOf(root, reference)));

/** Returns the references that the schema of a reference leads to, which may include itself. */
export const referencesFrom = oncePerReference((root, reference): ReadonlySet<string> => {
  const reached = new Set(directReferences(root, reference));
  for (const name of reached) for (const next of directReferences(root, name)) reached.add(next);
  return reached;
});

/** Returns a digest of the schema that a reference leads to, and of those that it refers to itself. */
const digestOf = oncePerReference((root, reference) => {
  const reached = new Set([reference, ...referencesFrom(root, reference)]);
  return digest(JSON.stringify([...reached].map((name) => [name, targetOf(root, name)])));
});
