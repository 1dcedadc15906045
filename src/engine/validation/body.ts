import { BODYLESS_METHODS } from '../http1/http-methods.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import { type BodyRule, createBodyValidator } from './body-rule.ts';
import { createMediaTypes, isJsonType, JSON_MEDIA_TYPES, type MediaTypes } from './media-type.ts';
import { compileStreamValidation } from './stream-validation.ts';

/** Compiles the body rule of a route; `undefined` if its schema is invalid. */
export function compileBody(
  body: BodyEntry,
  methods: readonly string[],
  at: Path,
  { schemas, secrets }: { readonly schemas: SchemaCompiler | undefined; readonly secrets: Secrets },
  findings: Finding[],
): BodyRule | undefined {
  if (methods.every((method) => BODYLESS_METHODS.has(method))) {
    findings.push(errorAtKey(at, 'body', 'GET and HEAD have no body; remove "body"'));
  }
  const limitBytes = sizeBytes(body.maxBytes);
  if (body.schema === undefined) {
    const { types, streamValidatorFor } = compileStreamValidation(body, at, secrets, findings);
    return { limitBytes, types, streamValidatorFor, validate: undefined };
  }
  const types = compileJsonTypes(body, at, secrets, findings);
  const validateValue = schemas?.compile([...at, 'schema'], findings);
  if (validateValue === undefined || schemas === undefined) return undefined;
  return {
    limitBytes,
    types,
    streamValidatorFor: undefined,
    validate: createBodyValidator(validateValue, schemas.root, [...at, 'schema']),
  };
}

type BodyEntry = NonNullable<RouteEntry['body']>;

/** Compiles the types of a body with a schema, which must all be JSON. */
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
    const message = `"${type}" is not JSON, and a schema validates only JSON; write application/json or a type that ends in +json`;
    findings.push(errorAt([...path, 'types', index], 'body-types', message));
  }
  return createMediaTypes(types, isJsonType, secrets.hasSecretWithin([...path, 'types']));
}
