import { type Document, isMap as isMapNode, isSeq, parseDocument, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { formatText } from '../manifest/format.ts';
import { isMap } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
import { type MergeConflict, type MergeEdit, type MergeResult, mergeMembers } from './merge-values.ts';

/** A conflict with its path in the file before the import: the index of a route is in place of its id. */
export interface PlacedConflict extends MergeConflict {
  readonly place: Path;
}

/** A file of routes after a second import. */
export interface MergedImport {
  readonly text: string;
  readonly conflicts: readonly PlacedConflict[];
  /** The numbers of routes. */
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Merges the import of a document into a file that an earlier import wrote and a person has edited. Routes are matched by id, and
 * schemas by name. Without a change of the document, the text stays as it is.
 *
 * @param base the text of the last import
 * @param own the text of the file
 * @param next the text of the present import
 */
export function mergeImport(base: string, own: string, next: string): MergedImport {
  const before = parseDocument(base);
  const file = parseDocument(own);
  const after = parseDocument(next);
  requireEditable(file);
  const current = valuesOf(file);
  const { edits, conflicts } = mergeSections(valuesOf(before), current, valuesOf(after));
  // Before the edits, which may move the routes.
  const places = new Map(conflicts.map((conflict) => [conflict, nodePath(file, conflict.path)]));
  for (const edit of edits) if (!isSchemaRemoval(edit)) apply(edit, file, after);
  removeSchemas(
    file,
    edits.filter(isSchemaRemoval).map(({ path }) => String(path[1])),
  );
  const routes = edits.filter(({ path }) => path[0] === 'routes');
  const known = new Set(Object.keys(current.routes));
  const changed = routes.filter(
    ({ path, value }) => known.has(String(path[1])) && !(path.length === 2 && value === undefined),
  );
  return {
    text: edits.length === 0 ? own : formatText(file.toString({ lineWidth: 0 })),
    conflicts: conflicts.map((conflict) => ({ ...conflict, place: places.get(conflict) ?? [] })),
    added: routes.filter(({ path }) => !known.has(String(path[1]))).length,
    changed: new Set(changed.map(({ path }) => path[1])).size,
    removed: routes.filter(({ path, value }) => path.length === 2 && value === undefined).length,
  };
}

/** Merges each schema and each route. */
function mergeSections(base: Values, own: Values, next: Values): MergeResult {
  const results = (['schemas', 'routes'] as const).map((section) =>
    mergeMembers(base[section], own[section], next[section], [section]),
  );
  return { edits: results.flatMap(({ edits }) => edits), conflicts: results.flatMap(({ conflicts }) => conflicts) };
}

/** The file cannot be merged. The message says why. */
export class MergeError extends Error {}

/** An edit of one alias would change the others. */
function requireEditable(file: Document): void {
  visit(file, {
    Alias: (_key, { source }) => {
      throw new MergeError(`the alias "*${source}" cannot be merged; write its value in its place`);
    },
  });
}

interface Values {
  readonly schemas: Readonly<Record<string, unknown>>;
  /** By id. Routes without an id are not the import's. */
  readonly routes: Readonly<Record<string, unknown>>;
}

function valuesOf(document: Document): Values {
  const { schemas, routes } = toMap(document);
  const list: readonly unknown[] = Array.isArray(routes) ? routes : [];
  const byId = list.flatMap((route) => (isMap(route) && typeof route['id'] === 'string' ? [[route['id'], route]] : []));
  return { schemas: toRecord(schemas), routes: Object.fromEntries(byId) as Record<string, unknown> };
}

function toMap(document: Document): { readonly schemas?: unknown; readonly routes?: unknown } {
  return toRecord(document.toJS());
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}

function isSchemaRemoval({ path, value }: MergeEdit): boolean {
  return path[0] === 'schemas' && path.length === 2 && value === undefined;
}

/** Removes schemas, but not those that a remaining part of the file refers to. */
function removeSchemas(file: Document, names: readonly string[]): void {
  const { routes, schemas } = toMap(file);
  const removed = new Set(names);
  const isNeeded = (name: string) => {
    const others = Object.entries(toRecord(schemas)).filter(([other]) => !removed.has(other));
    return JSON.stringify([routes, others]).includes(JSON.stringify(`#/schemas/${name}`).slice(0, -1));
  };
  // A schema that stays may need another one.
  for (let size = -1; size !== removed.size; ) {
    size = removed.size;
    for (const name of removed) if (isNeeded(name)) removed.delete(name);
  }
  for (const name of removed) file.deleteIn(['schemas', name]);
  if (removed.size > 0 && Object.keys(toRecord(schemas)).length === removed.size) file.delete('schemas');
}

function routeListOf(document: Document): YAMLSeq | undefined {
  const list = document.get('routes', true);
  return isSeq(list) ? list : undefined;
}

function indexOf(list: YAMLSeq | undefined, id: string): number {
  return list?.items.findIndex((item) => isMapNode(item) && item.get('id') === id) ?? -1;
}

/** Returns a path with the index of the route in place of its id; the list of routes if the file has no such route. */
function nodePath(document: Document, [section, name, ...rest]: Path): Path {
  if (section !== 'routes' || name === undefined) return [section, name, ...rest].filter((step) => step !== undefined);
  const index = indexOf(routeListOf(document), String(name));
  return index === -1 ? ['routes'] : ['routes', index, ...rest];
}

function apply({ path, value }: MergeEdit, file: Document, after: Document): void {
  const place = nodePath(file, path);
  const isRoute = path[0] === 'routes' && path.length === 2;
  if (value === undefined) file.deleteIn(place);
  // The nodes of the import are written as in a new file.
  else if (isRoute && place.length === 1) addRoute(file, String(path[1]), after);
  else file.setIn(place, after.getIn(nodePath(after, path), true));
}

/** Adds a route of the import after the nearest one that precedes it there. */
function addRoute(file: Document, id: string, after: Document): void {
  const source = routeListOf(after) as YAMLSeq<YAMLMap>;
  const at = indexOf(source, id);
  const route = source.items[at] as YAMLMap;
  const list = routeListOf(file);
  if (list === undefined) return void file.set('routes', file.createNode([route]));
  const places = source.items.slice(0, at).map((item) => indexOf(list, String(item.get('id'))));
  const position = (places.findLast((place) => place !== -1) ?? -1) + 1;
  const [first] = list.items;
  if (position > 0) route.spaceBefore = true;
  else if (isMapNode(first)) first.spaceBefore = true;
  list.items.splice(position, 0, route);
}
