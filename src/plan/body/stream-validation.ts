import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import { sizeBytes } from '../../manifest/units.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { BodyRule } from './body.ts';
import { CsvHeaderValidator } from './csv-header.ts';
import { createMediaTypes, mediaTypeMatcher, parseMediaType } from './media-type.ts';
import { boundaryOf, MultipartValidator, type PartRule } from './multipart.ts';
import type { Violation } from './violation.ts';

/** Looks at one body, piece by piece, and keeps hardly anything of it. */
export interface StreamValidator {
  /** The next piece, of any length. With a fault nothing of it may go on, and nothing that follows. */
  write(piece: Buffer): Violation | undefined;
  /** There are no more pieces. */
  end(): Violation | undefined;
}

type BodyEntry = NonNullable<RouteEntry['body']>;

/** What can look at one kind of body while it goes by. */
interface StreamedFormat {
  /** The key of the manifest. */
  readonly key: 'multipart' | 'csv';
  readonly type: string;
  /** `undefined` for a Content-Type of the kind by which the body could be read in two ways. */
  readonly validatorFor: (contentType: string) => StreamValidator | undefined;
}

/** The types of a body that is streamed, and what looks at it on its way. */
export function compileStreamValidation(
  body: BodyEntry,
  path: Path,
  secrets: Secrets,
  findings: Finding[],
): Pick<BodyRule, 'types' | 'streamValidatorFor'> {
  const kinds = kindsOf(body, secrets.redactValue(body, path));
  if (body.types === undefined && kinds.length === 0) return { types: undefined, streamValidatorFor: undefined };
  const listed = body.types ?? kinds.map(({ type }) => type);
  for (const { key, type } of kinds) {
    if (mediaTypeMatcher(listed)(type)) continue;
    findings.push(errorAt([...path, 'types'], 'body-types', `"${key}" speaks of ${type}, which is not listed; add it`));
  }
  const kindOf = (contentType: string) => {
    const name = parseMediaType(contentType)?.name;
    return kinds.find(({ type }) => type === name);
  };
  const fits = (contentType: string) => {
    const kind = kindOf(contentType);
    return kind === undefined || kind.validatorFor(contentType) !== undefined;
  };
  const inspect = (contentType: string) => kindOf(contentType)?.validatorFor(contentType);
  return {
    types: createMediaTypes(listed, fits, secrets.hasSecretWithin([...path, 'types'])),
    streamValidatorFor: kinds.length === 0 ? undefined : inspect,
  };
}

/** @param shown the same as it may be printed; refusals do not name a list that differs there */
function kindsOf({ multipart, csv }: BodyEntry, shown: BodyEntry): StreamedFormat[] {
  const kinds: StreamedFormat[] = [];
  if (multipart !== undefined) {
    const rules = new Map(
      Object.entries(multipart.parts).map(([name, part]) => [name, partRule(part, shown.multipart?.parts[name])]),
    );
    const validatorFor = (contentType: string) => {
      const boundary = boundaryOf(contentType);
      return boundary === undefined ? undefined : new MultipartValidator(boundary, rules);
    };
    kinds.push({ key: 'multipart', type: 'multipart/form-data', validatorFor });
  }
  if (csv !== undefined) {
    const isTold = csv.header.join() === shown.csv?.header.join();
    const inspectorFor = (contentType: string) =>
      isUtf8Charset(contentType) ? new CsvHeaderValidator(csv, isTold) : undefined;
    kinds.push({ key: 'csv', type: 'text/csv', validatorFor: inspectorFor });
  }
  return kinds;
}

type Part = NonNullable<BodyEntry['multipart']>['parts'][string];

function partRule(part: Part, shown: Part | undefined): PartRule {
  const { types, maxBytes, maxCount, required } = part;
  return {
    acceptsType: types === undefined ? () => true : mediaTypeMatcher(types),
    typesDescription: types?.join() === shown?.types?.join() ? (types?.join(' or ') ?? '') : 'of another type',
    limitBytes: sizeBytes(maxBytes),
    maxCount,
    isRequired: required,
  };
}

function isUtf8Charset(contentType: string): boolean {
  const charset = parseMediaType(contentType)?.parameters.get('charset')?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'us-ascii';
}
