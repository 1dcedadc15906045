import { errorAt, errorAtKey, type Finding, type FindingLocation, type Fix, type Path } from '../problem/finding.ts';
import { isMap } from '../schema/schema-walk.ts';
import type { Document } from './document.ts';
import { isIgnoredKey, MERGED_KEYS } from './manifest-keys.ts';
import { type RouteDefaults, readRouteDefaults } from './route-defaults.ts';
import { isList, type YamlValue } from './yaml-values.ts';

/** Equal to the limit of a list in one file. */
const MAX_ROUTES = 20_000;

/** The document that a merged member comes from, and its path in that document. */
interface Origin {
  readonly document: Document;
  readonly path: Path;
}

/**
 * Merges a manifest and its included files into one document: concatenates the routes, with the defaults of their files, and unites
 * the maps of upstreams and schemas. Removes ignored keys. Reports a name that two files define.
 */
export function mergeDocuments(main: Document, included: readonly Document[]) {
  const findings: Finding[] = [];
  const all = [main, ...included];
  if (included.length === 0 && !hasSharedKeys(main)) return { document: main, findings };
  const defaults = new Map<Document, RouteDefaults | undefined>(
    all.map((document) => [document, readRouteDefaults(document, main, findings)]),
  );
  const namedOrigins = new Map<string, Origin>();
  const own = Object.fromEntries(
    Object.entries(main.value as Readonly<Record<string, YamlValue>>).filter(
      ([key]) => key !== 'include' && !isIgnoredKey(key),
    ),
  );
  const merged: Record<string, YamlValue> = { ...own };
  // In place of a list, the manifest may have a map with the name of a file.
  const invariants = listMembers(all, 'invariants');
  if (invariants.length > 0 && isMergeable(own['invariants'], isInvariants))
    merged['invariants'] = invariants.map(({ value }) => value);
  const routes = isMergeable(own['routes'], isList) ? listMembers(all, 'routes') : [];
  if (routes.length > 0)
    merged['routes'] = routes.map(({ document, value }) => defaults.get(document)?.resolve(value) ?? value);
  for (const key of MERGED_KEYS) {
    if (key === 'routes' || !isMergeable(own[key], isMap) || !all.some((document) => isMap(membersOf(document, key))))
      continue;
    merged[key] = Object.fromEntries(all.flatMap((document) => mergeMaps(key, document, namedOrigins, findings)));
  }
  const excess = `these files contain ${routes.length} routes, and the limit is ${MAX_ROUTES}; remove some`;
  if (routes.length > MAX_ROUTES) findings.push(errorAt(['include'], 'include', excess));
  const originOf = (path: Path) => {
    const [key, member] = path;
    if (key === 'invariants') return originAt(invariants[Number(member)], path);
    if (key !== 'routes') return originAt(namedOrigins.get(`${key}/${member}`), path);
    const route = routes[Number(member)];
    return (route && defaults.get(route.document)?.originOf(route.value, path.slice(2))) ?? originAt(route, path);
  };
  return { document: createMergedDocument(main, included, merged, originOf), findings };
}

/** Returns the members of a list that several documents have, in their order. */
function listMembers(documents: readonly Document[], key: string): (Origin & { readonly value: YamlValue })[] {
  return documents.flatMap((document) => {
    const list = membersOf(document, key);
    return isList(list) ? list.map((value, index) => ({ document, path: [key, index], value })) : [];
  });
}

/** True for a list, and for a map with only the name of a file. */
function isInvariants(value: YamlValue | undefined): boolean {
  return isList(value) || (isMap(value) && Object.keys(value).join() === 'file');
}

/** Returns where a value inside a merged member comes from. */
function originAt(member: Origin | undefined, path: Path): Origin | undefined {
  return member && { document: member.document, path: [...member.path, ...path.slice(2)] };
}

/** Returns the members of a map that no earlier document has. */
function mergeMaps(key: string, document: Document, named: Map<string, Origin>, findings: Finding[]) {
  const members = membersOf(document, key);
  if (!isMap(members)) return [];
  return Object.entries(members).filter(([name]) => {
    const path = [key, name];
    const other = named.get(path.join('/'));
    if (other === undefined) {
      named.set(path.join('/'), { document, path });
      return true;
    }
    const message = `"${name}" is defined in another file too; rename or remove one of them`;
    const finding = errorAtKey(path, 'include-twice', message);
    const related = { path, file: other.document.file, message: 'the other definition' };
    findings.push({ ...finding, location: { ...finding.location, file: document.file }, related });
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
  const resolve = (where: FindingLocation): { readonly document: Document; readonly where: FindingLocation } => {
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
      const { document, where: original } = resolve(where);
      return document.locate(original);
    },
    fileOf: (where) => resolve(where).document.file,
    edit: (fix: Fix) => {
      const { document, path } = originOf(fix.path) ?? { document: main, path: fix.path };
      // The change of a default would change other routes too.
      const isInherited = path[0] === 'defaults' && fix.path[0] !== 'defaults';
      return isInherited ? undefined : document.edit?.({ ...fix, path });
    },
  };
}

/** True for a manifest with `defaults` or ignored keys. */
function hasSharedKeys({ value }: Document): boolean {
  return isMap(value) && Object.keys(value).some((key) => key === 'defaults' || isIgnoredKey(key));
}

function membersOf({ value }: Document, key: string): YamlValue | undefined {
  return isMap(value) ? value[key] : undefined;
}

/** Returns false for a value of another type, which the schema reports. */
function isMergeable(own: YamlValue | undefined, isForm: (value: YamlValue | undefined) => boolean): boolean {
  return own === undefined || isForm(own);
}
