import { pointerStep, valueAt } from '../../engine/json-pointer.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import { keywordsWith } from '../../engine/schema/keywords.ts';
import { isMap, referencePath } from '../../engine/schema/schema-walk.ts';

/** The parts of a manifest that have schemas. */
export type ValidatedManifest = Pick<Manifest, 'routes' | 'schemas'>;

/**
 * Returns the JSON Pointers of the parameters and the body members that the schemas of a route restrict, as violations name
 * them. Of a body these are the members of the outermost object.
 */
export function validatedValues(manifest: ValidatedManifest, index: number): string[] {
  const entry = manifest.routes[index];
  const parameters = (['params', 'query', 'headers'] as const).flatMap((kind) =>
    restrictedNames(manifest, entry?.[kind]).map((name) => `/${kind}${pointerStep(name)}`),
  );
  const members = restrictedNames(manifest, resolve(manifest, entry?.body?.schema)).map(pointerStep);
  return [...parameters, ...members];
}

/** Returns the names in `properties` whose schemas refuse some value, and those in `required`. */
function restrictedNames(manifest: ValidatedManifest, schema: unknown): string[] {
  if (!isMap(schema)) return [];
  const { properties, required } = schema;
  const restricted = Object.entries(isMap(properties) ? properties : {}).flatMap(([name, member]) =>
    isRestricting(resolve(manifest, member)) ? [name] : [],
  );
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return [...new Set([...restricted, ...names])];
}

const ANNOTATIONS = new Set(keywordsWith({ isAnnotation: true }));

function isRestricting(schema: unknown): boolean {
  return schema === false || (isMap(schema) && Object.keys(schema).some((keyword) => !ANNOTATIONS.has(keyword)));
}

/** Follows a reference to `schemas`. A schema in another file stays a reference, which restricts the value. */
function resolve(manifest: ValidatedManifest, schema: unknown, depth = 0): unknown {
  const reference = isMap(schema) ? schema['$ref'] : undefined;
  const path = typeof reference === 'string' ? referencePath(reference) : undefined;
  if (path === undefined || depth > MAX_REFERENCES) return schema;
  return resolve(manifest, valueAt(manifest, path), depth + 1);
}

/** A longer chain of references is a circle. */
const MAX_REFERENCES = 20;
