import { errorAt, errorAtKey, type Finding, type FindingLocation, type Fix, type Path } from '../problem/finding.ts';
import type { Document } from './document.ts';
import { MERGED_KEYS } from './manifest-keys.ts';
import type { YamlValue } from './yaml-values.ts';

/** As many as a list that is written in one file may have. */
const MAX_ROUTES = 20_000;

/** Where a member of the whole stands: in which document, and at which path of that. */
interface Origin {
  readonly document: Document;
  readonly path: Path;
}

/**
 * One document of a manifest and of what it includes: the lists of routes one behind the other, the maps of upstreams and
 * schemas united. Of one name that stands in two files, it is told.
 */
export function mergeDocuments(
  main: Document,
  included: readonly Document[],
): { document: Document; findings: Finding[] } {
  const findings: Finding[] = [];
  const all = [main, ...included];
  const routes: Origin[] = [];
  const named = new Map<string, Origin>();
  const { include: _done, ...own } = main.value as Readonly<Record<string, YamlValue>>;
  const whole: Record<string, YamlValue> = { ...own };
  const lists = all.map((document) => [document, membersOf(document, 'routes')] as const);
  if (isMergeable(own['routes'], isList)) {
    for (const [document, list] of lists)
      if (isList(list)) for (const index of list.keys()) routes.push({ document, path: ['routes', index] });
    const joined = lists.flatMap(([, list]) => (isList(list) ? list : []));
    if (lists.some(([, list]) => isList(list))) whole['routes'] = joined;
  }
  for (const key of MERGED_KEYS) {
    if (key === 'routes' || !isMergeable(own[key], isMap) || !all.some((document) => isMap(membersOf(document, key))))
      continue;
    whole[key] = Object.fromEntries(all.flatMap((document) => mergeMaps(key, document, named, findings)));
  }
  if (routes.length > MAX_ROUTES)
    findings.push(
      errorAt(['include'], 'include', `these files hold ${routes.length} routes; at most ${MAX_ROUTES} are read`),
    );
  const originOf = (path: Path) => {
    const [key, member] = path;
    const origin = key === 'routes' ? routes[Number(member)] : named.get(`${key}/${member}`);
    return origin && { document: origin.document, path: [...origin.path, ...path.slice(2)] };
  };
  return { document: createMergedDocument(main, included, whole, originOf), findings };
}

/** The members of a map that no document before it has. */
function mergeMaps(
  key: string,
  document: Document,
  named: Map<string, Origin>,
  findings: Finding[],
): [string, YamlValue][] {
  const members = membersOf(document, key);
  if (!isMap(members)) return [];
  return Object.entries(members).filter(([name]) => {
    const path = [key, name];
    const other = named.get(path.join('/'));
    if (other === undefined) {
      named.set(path.join('/'), { document, path });
      return true;
    }
    const message = `"${name}" stands in another file as well; give each a name of its own, or remove one`;
    const found = errorAtKey(path, 'include-twice', message);
    const related = { path, file: other.document.file, message: 'the other one' };
    findings.push({ ...found, location: { ...found.location, file: document.file }, related });
    return false;
  });
}

function createMergedDocument(
  main: Document,
  included: readonly Document[],
  value: YamlValue,
  originOf: (path: Path) => Origin | undefined,
): Document {
  const byFile = new Map([main, ...included].map((document) => [document.file, document]));
  const placed = (where: FindingLocation): { readonly document: Document; readonly where: FindingLocation } => {
    if (where.file !== undefined) return { document: byFile.get(where.file) ?? main, where };
    const origin = 'path' in where ? originOf(where.path) : undefined;
    if (origin === undefined || !('path' in where)) return { document: main, where };
    return { document: origin.document, where: { ...where, path: origin.path } };
  };
  return {
    value,
    text: main.text,
    file: main.file,
    included,
    comments: () => main.comments(),
    locate: (where) => {
      const { document, where: there } = placed(where);
      return document.locate(there);
    },
    fileOf: (where) => placed(where).document.file,
    edit: (fix: Fix) => {
      const { document, path } = originOf(fix.path) ?? { document: main, path: fix.path };
      return document.edit?.({ ...fix, path });
    },
  };
}

function membersOf({ value }: Document, key: string): YamlValue | undefined {
  return isMap(value) ? value[key] : undefined;
}

/** What is no list or map at all stays as it is, for the schema to tell of. */
function isMergeable(own: YamlValue | undefined, isForm: (value: YamlValue | undefined) => boolean): boolean {
  return own === undefined || isForm(own);
}

function isList(value: YamlValue | undefined): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function isMap(value: YamlValue | undefined): value is { readonly [key: string]: YamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
