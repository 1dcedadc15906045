import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Secrets } from '../manifest/secrets.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { CsvHeaderInspector } from './csv-header.ts';
import { mediaTypes, nameMatcher, parseMediaType } from './media-type.ts';
import { boundaryOf, MultipartInspector, type PartRule } from './multipart.ts';
import type { BodyRule, Inspector } from './plan.ts';

type BodyEntry = NonNullable<RouteEntry['body']>;

/** What can look at one kind of body while it goes by. */
interface Kind {
  /** The key of the manifest. */
  readonly key: 'multipart' | 'csv';
  readonly type: string;
  /** `undefined` for a Content-Type of the kind by which the body could be read in two ways. */
  readonly inspectorFor: (contentType: string) => Inspector | undefined;
}

/** The types of a body that is streamed, and what looks at it on its way. */
export function compileInspection(
  body: BodyEntry,
  path: Path,
  secrets: Secrets,
  findings: Finding[],
): Pick<BodyRule, 'types' | 'inspect'> {
  const kinds = kindsOf(body, secrets.shown(body, path));
  if (body.types === undefined && kinds.length === 0) return { types: undefined, inspect: undefined };
  const listed = body.types ?? kinds.map(({ type }) => type);
  for (const { key, type } of kinds) {
    if (nameMatcher(listed)(type)) continue;
    findings.push(errorAt([...path, 'types'], 'body-types', `"${key}" speaks of ${type}, which is not listed; add it`));
  }
  const kindOf = (contentType: string) => {
    const name = parseMediaType(contentType)?.name;
    return kinds.find(({ type }) => type === name);
  };
  const fits = (contentType: string) => {
    const kind = kindOf(contentType);
    return kind === undefined || kind.inspectorFor(contentType) !== undefined;
  };
  const inspect = (contentType: string) => kindOf(contentType)?.inspectorFor(contentType);
  return {
    types: mediaTypes(listed, fits, secrets.holdsSecret([...path, 'types'])),
    inspect: kinds.length === 0 ? undefined : inspect,
  };
}

/** @param shown the same as it may be printed; refusals do not name a list that differs there */
function kindsOf({ multipart, csv }: BodyEntry, shown: BodyEntry): Kind[] {
  const kinds: Kind[] = [];
  if (multipart !== undefined) {
    const rules = new Map(
      Object.entries(multipart.parts).map(([name, part]) => [name, partRule(part, shown.multipart?.parts[name])]),
    );
    const inspectorFor = (contentType: string) => {
      const boundary = boundaryOf(contentType);
      return boundary === undefined ? undefined : new MultipartInspector(boundary, rules);
    };
    kinds.push({ key: 'multipart', type: 'multipart/form-data', inspectorFor });
  }
  if (csv !== undefined) {
    const isTold = csv.header.join() === shown.csv?.header.join();
    const inspectorFor = (contentType: string) =>
      isUtf8Charset(contentType) ? new CsvHeaderInspector(csv, isTold) : undefined;
    kinds.push({ key: 'csv', type: 'text/csv', inspectorFor });
  }
  return kinds;
}

type Part = NonNullable<BodyEntry['multipart']>['parts'][string];

function partRule(part: Part, shown: Part | undefined): PartRule {
  const { types, maxBytes, maxCount, required } = part;
  return {
    takesType: types === undefined ? () => true : nameMatcher(types),
    typesText: types?.join() === shown?.types?.join() ? (types?.join(' or ') ?? '') : 'of another type',
    limitBytes: sizeBytes(maxBytes),
    maxCount,
    isRequired: required,
  };
}

function isUtf8Charset(contentType: string): boolean {
  const charset = parseMediaType(contentType)?.parameters.get('charset')?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'us-ascii';
}
