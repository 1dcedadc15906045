import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import { sizeBytes } from '../../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import { createBodyValidator } from './body-validator.ts';
import { createMediaTypes, isJsonType, JSON_MEDIA_TYPES, type MediaTypes } from './media-type.ts';
import { compileStreamValidation, type StreamValidator } from './stream-validation.ts';
import type { CancellablePromise, ValidationResult } from './validation-result.ts';

export interface BodyRule {
  /** A longer body is refused as soon as that is known. */
  readonly limitBytes: number;
  /** What the body may be; `undefined`: anything. */
  readonly types: MediaTypes | undefined;
  /**
   * Present when the body must be JSON: reads and validates the whole of it, in another thread where that takes long.
   * Takes over the buffer: nothing else may use its memory.
   */
  readonly validate: ((body: Buffer, client?: string) => ValidationResult | CancellablePromise) | undefined;
  /** What looks at a streamed body of this Content-Type on its way; `undefined`: nothing does. */
  readonly streamValidatorFor: ((contentType: string) => StreamValidator | undefined) | undefined;
}

const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** Makes the body rule of a route, or `undefined` when it has none. */
export function compileBody(
  entry: RouteEntry,
  methods: readonly string[],
  path: Path,
  { schemas, secrets }: { readonly schemas: SchemaCompiler | undefined; readonly secrets: Secrets },
  findings: Finding[],
): BodyRule | undefined {
  const { body } = entry;
  if (body === undefined) return undefined;
  const at = [...path, 'body'];
  if (methods.every((method) => WITHOUT_BODY.has(method))) {
    findings.push(errorAtKey(at, 'body', 'GET and HEAD take no body; remove "body"'));
  }
  const limitBytes = sizeBytes(body.maxBytes);
  if (body.schema === undefined) {
    const { types, streamValidatorFor } = compileStreamValidation(body, at, secrets, findings);
    return { limitBytes, types, streamValidatorFor, validate: undefined };
  }
  const types = compileJsonTypes(body, at, secrets, findings);
  const judge = schemas?.compile([...at, 'schema'], findings);
  if (judge === undefined || schemas === undefined) return undefined;
  return {
    limitBytes,
    types,
    streamValidatorFor: undefined,
    validate: createBodyValidator(judge, schemas.root, [...at, 'schema']),
  };
}

type BodyEntry = NonNullable<RouteEntry['body']>;

/** A body with a schema is JSON: its types may say which, and nothing else. */
function compileJsonTypes(body: BodyEntry, path: Path, secrets: Secrets, findings: Finding[]): MediaTypes {
  for (const key of ['multipart', 'csv'] as const)
    if (body[key] !== undefined)
      findings.push(
        errorAtKey([...path, key], 'body-types', `a body with a schema is JSON; remove "${key}", or the schema`),
      );
  const { types } = body;
  if (types === undefined) return JSON_MEDIA_TYPES;
  for (const [index, type] of types.entries()) {
    if (isJsonType(type)) continue;
    const message = `"${type}" is no JSON, and a schema judges only JSON; write application/json or a type that ends in +json`;
    findings.push(errorAt([...path, 'types', index], 'body-types', message));
  }
  return createMediaTypes(types, isJsonType, secrets.hasSecretWithin([...path, 'types']));
}
