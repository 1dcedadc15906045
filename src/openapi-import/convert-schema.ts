import { keywordsWith } from '../plan/schema/keywords.ts';
import { isMap, mapSchemas, valueAt } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
import type { ReportLoss } from './loss.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** Keywords that do not affect which requests are valid, except the description, which violations show to clients. */
const ANNOTATIONS = new Set([
  ...keywordsWith({ isAnnotation: true }),
  ...['$comment', '$id', '$schema', 'default', 'deprecated', 'example', 'examples', 'externalDocs'],
  ...['readOnly', 'title', 'writeOnly', 'xml'],
]);
ANNOTATIONS.delete('description');

type Schema = Readonly<Record<string, unknown>>;

/** Converts the schemas of a document to those of a manifest, and collects the components that they refer to. */
export class SchemaConverter {
  readonly #document: OpenApiDocument;
  readonly #report: ReportLoss;
  readonly #names = new Map<string, string>();
  /** The converted components, by their names in the manifest. */
  readonly schemas = new Map<string, unknown>();
  /** The paths of the components in the document, by the same names. */
  readonly origins = new Map<string, Path>();

  constructor(document: OpenApiDocument, report: ReportLoss) {
    this.#document = document;
    this.#report = report;
  }

  /** Returns the schema of a manifest for the one at a path of the document. */
  convert(schema: unknown, path: Path): unknown {
    return mapSchemas(schema, (inner, at) => this.#convertOne(inner, valueAt(schema, at), [...path, ...at]));
  }

  /** @param original the same schema before its subschemas were converted */
  #convertOne(schema: Schema, original: unknown, path: Path): Record<string, unknown> {
    const kept = Object.entries(schema).filter(([key]) => !ANNOTATIONS.has(key) && !key.startsWith('x-'));
    const converted = Object.fromEntries(kept);
    convertFormat(converted);
    if (converted['discriminator'] !== undefined) {
      delete converted['discriminator'];
      this.#report(path, 'looser', 'a discriminator selects no schema here; every alternative is accepted');
    }
    // The upgrade has added null to a type beside it. Without a type, the keyword has no effect (OpenAPI 3.0.3 section 4.7.24.1).
    if (converted['nullable'] === true && ['allOf', 'anyOf', 'oneOf', 'enum'].some((key) => key in converted))
      this.#report(
        path,
        'stricter',
        'nullable has no effect without a type beside it; null is refused unless an alternative has it',
      );
    delete converted['nullable'];
    relaxReadOnly(converted, original);
    const reference = converted['$ref'];
    if (typeof reference !== 'string') return converted;
    const name = this.#nameOf(reference);
    if (name !== undefined)
      return { ...converted, $ref: `#/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` };
    delete converted['$ref'];
    this.#report(path, 'looser', `the reference ${JSON.stringify(reference)} leads to no schema of this document`);
    return converted;
  }

  #nameOf(reference: string): string | undefined {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const target = this.#document.resolve(reference);
    if (target === undefined || !(isMap(target.value) || typeof target.value === 'boolean')) return undefined;
    const base = String(target.path.at(-1)).replace(/[^\w.-]/g, '_');
    let name = base;
    for (let number = 2; this.origins.has(name); number += 1) name = `${base}_${number}`;
    this.#names.set(reference, name);
    this.origins.set(name, target.path);
    this.schemas.set(name, {});
    this.schemas.set(name, this.convert(target.value, target.path));
    return name;
  }
}

/** A member that only responses have is not required in requests (OpenAPI 3.1 section 4.8.24). */
function relaxReadOnly(schema: Record<string, unknown>, original: unknown): void {
  const { required } = schema;
  const properties = isMap(original) ? original['properties'] : undefined;
  if (!Array.isArray(required) || !isMap(properties)) return;
  const kept = required.filter((name) => {
    const property = properties[String(name)];
    return !(isMap(property) && property['readOnly'] === true);
  });
  if (kept.length > 0) schema['required'] = kept;
  else delete schema['required'];
}

/** The formats of OpenAPI that say nothing about which JSON values are valid. */
const HINTS = new Set(['password', 'binary', 'float', 'double', 'int64']);
const INT32_LIMIT = 2_147_483_648;

function convertFormat(schema: Record<string, unknown>): void {
  const { format } = schema;
  if (format === 'int32') {
    schema['minimum'] ??= -INT32_LIMIT;
    schema['maximum'] ??= INT32_LIMIT - 1;
  }
  if (format === 'int32' || HINTS.has(String(format))) delete schema['format'];
}
