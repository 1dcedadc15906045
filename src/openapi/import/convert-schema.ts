import type { Path } from '../../engine/problem/finding.ts';
import { formOf, keywordsWith } from '../../engine/schema/keywords.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import type { LocatedValue, OpenApiDocument, ReportLoss } from './openapi-document.ts';

/** Keywords that do not affect which requests are valid, except the description, which violations show to clients. */
const ANNOTATIONS = new Set([
  ...keywordsWith({ isAnnotation: true }),
  ...['$comment', '$id', '$schema', 'default', 'deprecated', 'example', 'examples', 'externalDocs'],
  ...['readOnly', 'title', 'writeOnly', 'xml'],
]);
ANNOTATIONS.delete('description');

/** Stands before a reference that leads to no schema, until it is removed. */
export const UNRESOLVED = 'unresolved:';

type Schema = Record<string, unknown>;

/** True if a keyword of a document does not affect which values are valid. */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || keyword === 'description' || keyword.startsWith('x-');
}

const NO_NAMES: ReadonlySet<string> = new Set();

export type SchemaConverter = ReturnType<typeof createSchemaConverter>;

/** Converts the schemas of a document to those of a manifest, and collects the components that they refer to. */
export function createSchemaConverter(document: OpenApiDocument, report: ReportLoss) {
  const nameByReference = new Map<string, string>();
  /** Components that are named, but not yet converted: a chain of thousands of them would exceed the stack. */
  const pending: (readonly [name: string, target: LocatedValue])[] = [];
  /** The converted components, by their names in the manifest. */
  const schemas = new Map<string, unknown>();
  /** The paths of the components in the document, by the same names. */
  const origins = new Map<string, Path>();
  return { schemas, origins, convert };

  /** Returns the schema of a manifest for the one at a path of the document. */
  function convert(written: unknown, path: Path): unknown {
    const converted = convertOne(written, path);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [name, target] = next;
      schemas.set(name, convertOne(target.value, target.path));
    }
    return converted;
  }

  /** @param optional the members that are not required, because only responses have them */
  function convertOne(written: unknown, path: Path, optional = NO_NAMES): unknown {
    if (!isMap(written)) return written;
    const schema = document.hasOldSchemas ? withoutOldKeywords(written) : { ...written };
    reportIgnored(written, path);
    const names = new Set([...optional, ...readOnlyNames(written, document)]);
    relaxRequired(schema, names);
    convertFormat(schema);
    delete schema['discriminator'];
    delete schema['nullable'];
    const kept = Object.entries(schema).filter(([key]) => key === 'description' || !isAnnotation(key));
    const converted = kept.map(([key, value]) => [key, convertKeyword(key, value, [...path, key], names)]);
    return Object.fromEntries(converted) as Schema;
  }

  function convertKeyword(key: string, value: unknown, path: Path, names: ReadonlySet<string>): unknown {
    if (key === '$ref' && typeof value === 'string') return convertReference(value);
    const form = formOf(key);
    if (form === 'schema') return convertOne(value, path);
    if (form === 'schemas' && Array.isArray(value))
      return value.map((one, index) => convertOne(one, [...path, index], key === 'allOf' ? names : NO_NAMES));
    if (form !== 'schemas by name' || !isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, convertOne(one, [...path, name])]));
  }

  function reportIgnored(schema: Readonly<Schema>, path: Path): void {
    if (schema['discriminator'] !== undefined)
      report(path, 'looser', 'a discriminator selects no schema here; every alternative is accepted');
    if (schema['nullable'] !== true) return;
    if (!document.hasOldSchemas && schema['type'] !== undefined)
      report(path, 'stricter', "nullable has no effect in OpenAPI 3.1; null is refused unless type has 'null'");
    // OpenAPI 3.0.3 section 4.7.24.1.
    else if (schema['type'] === undefined && NON_NULL.some((key) => key in schema))
      report(
        path,
        'stricter',
        'nullable has no effect without a type beside it; null is refused unless an alternative has it',
      );
  }

  function convertReference(reference: string): string {
    const name = nameOf(reference);
    return name === undefined ? UNRESOLVED + reference : `#/schemas/${name}`;
  }

  function nameOf(reference: string): string | undefined {
    const known = nameByReference.get(reference);
    if (known !== undefined) return known;
    const target = document.resolve(reference);
    if (target === undefined || !(isMap(target.value) || typeof target.value === 'boolean')) return undefined;
    const base = String(target.path.at(-1)).replace(/[^\w.-]/g, '_');
    let name = base;
    for (let number = 2; origins.has(name); number += 1) name = `${base}_${number}`;
    nameByReference.set(reference, name);
    origins.set(name, target.path);
    pending.push([name, target]);
    return name;
  }
}

/** Keywords that may refuse null. */
const NON_NULL = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum'];

/** Returns a schema of OpenAPI 3.0 as JSON Schema. */
function withoutOldKeywords(written: Readonly<Schema>): Schema {
  const { $ref } = written;
  if (typeof $ref === 'string') return { $ref };
  const schema = { ...written };
  const { type, format, nullable } = schema;
  if (nullable === true && type !== undefined) schema['type'] = [...[type].flat(), 'null'];
  for (const [bound, key] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const isExclusive = schema[key];
    if (typeof isExclusive !== 'boolean') continue;
    delete schema[key];
    if (!isExclusive || schema[bound] === undefined) continue;
    schema[key] = schema[bound];
    delete schema[bound];
  }
  if (format === 'byte' && type === 'string') {
    delete schema['format'];
    schema['contentEncoding'] = 'base64';
  }
  return schema;
}

/** Returns the members that only responses have (OpenAPI 3.1 section 4.8.24). */
export function readOnlyNames(schema: unknown, document: OpenApiDocument, seen = new Set<unknown>()): string[] {
  const target = document.follow(schema, [])?.value;
  if (!isMap(target) || seen.has(target)) return [];
  seen.add(target);
  const properties = isMap(target['properties']) ? Object.entries(target['properties']) : [];
  const own = properties.filter(([, property]) => isReadOnly(property, document)).map(([name]) => name);
  const members = Array.isArray(target['allOf']) ? (target['allOf'] as unknown[]) : [];
  return [...own, ...members.flatMap((member) => readOnlyNames(member, document, seen))];
}

function isReadOnly(property: unknown, document: OpenApiDocument): boolean {
  const target = document.follow(property, [])?.value;
  const places = document.hasOldSchemas ? [target] : [property, target];
  return places.some((schema) => isMap(schema) && schema['readOnly'] === true);
}

function relaxRequired(schema: Schema, optional: ReadonlySet<string>): void {
  const { required } = schema;
  if (!Array.isArray(required)) return;
  const kept = required.filter((name) => !optional.has(String(name)));
  if (kept.length > 0) schema['required'] = kept;
  else delete schema['required'];
}

/** The formats of OpenAPI that say nothing about which JSON values are valid. */
const HINTS = new Set(['password', 'binary', 'float', 'double', 'int64']);
const INT32_LIMIT = 2_147_483_648;

function convertFormat(schema: Schema): void {
  const { format, type, minimum, maximum } = schema;
  const types = [type ?? 'number'].flat();
  if (format === 'int32' && (types.includes('number') || types.includes('integer'))) {
    schema['minimum'] = typeof minimum === 'number' ? Math.max(minimum, -INT32_LIMIT) : (minimum ?? -INT32_LIMIT);
    schema['maximum'] = typeof maximum === 'number' ? Math.min(maximum, INT32_LIMIT - 1) : (maximum ?? INT32_LIMIT - 1);
  }
  if (format === 'int32' || HINTS.has(String(format))) delete schema['format'];
}
