import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { BodyRule, StreamValidator } from './body-rule.ts';
import { CsvHeaderValidator } from './csv-header.ts';
import { createMediaTypes, mediaTypeMatcher, parseMediaType } from './media-type.ts';
import { boundaryOf, MultipartValidator, type PartRule } from './multipart.ts';

type BodyEntry = NonNullable<RouteEntry['body']>;

/** A format that can be validated while the body is streamed. */
interface StreamedFormat {
  /** The key of the manifest. */
  readonly key: 'multipart' | 'csv';
  readonly type: string;
  /** Returns `undefined` for a Content-Type with which the body is ambiguous. */
  readonly validatorFor: (contentType: string) => StreamValidator | undefined;
}

/** Compiles the types and the validation of a streamed body. */
export function compileStreamValidation(
  body: BodyEntry,
  path: Path,
  secrets: Secrets,
  findings: Finding[],
): Pick<BodyRule, 'types' | 'streamValidatorFor'> {
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
      isUtf8Charset(contentType) ? new CsvHeaderValidator(csv, mayNameHeader) : undefined;
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
