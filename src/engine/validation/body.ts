import { BODYLESS_METHODS } from '../http1/http-methods.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import { createCsvHeaderValidator } from './csv-header.ts';
import {
  createMediaTypes,
  isJsonType,
  JSON_MEDIA_TYPES,
  type MediaTypes,
  mediaTypeMatcher,
  parseMediaType,
} from './media-type.ts';
import { boundaryOf, MultipartValidator, type PartRule } from './multipart.ts';
import { type BodyRule, createBodyValidator, type StreamValidator } from './request-rules.ts';

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

/** A format that can be validated while the body is streamed. */
interface StreamedFormat {
  /** The key of the manifest. */
  readonly key: 'multipart' | 'csv';
  readonly type: string;
  /** Returns `undefined` for a Content-Type with which the body is ambiguous. */
  readonly validatorFor: (contentType: string) => StreamValidator | undefined;
}

function compileStreamValidation(body: BodyEntry, path: Path, secrets: Secrets, findings: Finding[]) {
  const formats = formatsOf(body, secrets.redactValue(body, path));
  if (body.types === undefined && formats.length === 0) return { types: undefined, streamValidatorFor: undefined };
  const listed = body.types ?? formats.map(({ type }) => type);
  for (const { key, type } of formats) {
    if (mediaTypeMatcher(listed)(type)) continue;
    findings.push(errorAt([...path, 'types'], 'body-types', `"${key}" validates ${type}, which is not listed; add it`));
  }
  const formatOf = (contentType: string) => {
    const name = parseMediaType(contentType)?.name;
    return formats.find(({ type }) => type === name);
  };
  const isValid = (contentType: string) => {
    const format = formatOf(contentType);
    return format === undefined || format.validatorFor(contentType) !== undefined;
  };
  const streamValidatorFor = (contentType: string) => formatOf(contentType)?.validatorFor(contentType);
  return {
    types: createMediaTypes(listed, isValid, secrets.hasSecretWithin([...path, 'types'])),
    streamValidatorFor: formats.length === 0 ? undefined : streamValidatorFor,
  };
}

/** @param redacted the entry without values from the environment; refusals do not name a list that differs from it */
function formatsOf({ multipart, csv }: BodyEntry, redacted: BodyEntry): StreamedFormat[] {
  const formats: StreamedFormat[] = [];
  if (multipart !== undefined) {
    const rules = new Map(
      Object.entries(multipart.parts).map(([name, part]) => [name, partRule(part, redacted.multipart?.parts[name])]),
    );
    const validatorFor = (contentType: string) => {
      const boundary = boundaryOf(contentType);
      return boundary === undefined ? undefined : new MultipartValidator(boundary, rules);
    };
    formats.push({ key: 'multipart', type: 'multipart/form-data', validatorFor });
  }
  if (csv !== undefined) {
    const mayNameHeader = csv.header.join() === redacted.csv?.header.join();
    const validatorFor = (contentType: string) =>
      isUtf8Charset(contentType) ? createCsvHeaderValidator(csv, mayNameHeader) : undefined;
    formats.push({ key: 'csv', type: 'text/csv', validatorFor });
  }
  return formats;
}

type Part = NonNullable<BodyEntry['multipart']>['parts'][string];

function partRule(part: Part, redacted: Part | undefined): PartRule {
  const { types, maxBytes, maxCount, required } = part;
  return {
    acceptsType: types === undefined ? () => true : mediaTypeMatcher(types),
    typesDescription: types?.join() === redacted?.types?.join() ? (types?.join(' or ') ?? '') : 'of another type',
    limitBytes: sizeBytes(maxBytes),
    maxCount,
    isRequired: required,
  };
}

function isUtf8Charset(contentType: string): boolean {
  const charset = parseMediaType(contentType)?.parameters.get('charset')?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'us-ascii';
}
