import { isDeepStrictEqual } from 'node:util';
import type { Path } from '../../engine/problem/finding.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { type MergeConflict, type MergeEdit, type MergeResult, mergeMembers } from './merge-values.ts';
import type { RouteFile, RouteFileValues } from './route-file.ts';

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
 * @param base the last import
 * @param file the file; changed in place
 * @param after the present import; changed in place
 */
export function mergeImport(base: RouteFile, file: RouteFile, after: RouteFile): MergedImport {
  const before = base.values();
  const current = file.values();
  const renames = findRenames(before, current, after.values());
  for (const [id, newId] of renames) after.rename(newId, id);
  const { edits, conflicts } = keepRestrictions(mergeSections(before, current, after.values()), current);
  // Before the edits, which may move the routes.
  const placed = conflicts.map((conflict) => ({ ...conflict, place: file.indexed(conflict.path) }));
  for (const edit of edits.filter((one) => !isSchemaRemoval(one))) {
    if (edit.value === undefined) file.remove(edit.path);
    else file.take(edit.path, after);
  }
  file.removeSchemas(edits.filter(isSchemaRemoval).map(({ path }) => String(path[1])));
  for (const [id, newId] of renames) file.rename(id, newId);
  const isUnchanged = edits.length === 0 && renames.size === 0;
  return { text: isUnchanged ? file.text : file.toText(), conflicts: placed, ...countRoutes(edits, current, renames) };
}

/**
 * Finds routes with another id and the same requests, which the document has renamed. Returns the new ids by the old ones. Without
 * it, an edited route and its new name would both stay.
 */
function findRenames(before: RouteFileValues, current: RouteFileValues, after: RouteFileValues): Map<string, string> {
  const renames = new Map<string, string>();
  const added = Object.keys(after.routes).filter(
    (id) => !Object.hasOwn(before.routes, id) && !Object.hasOwn(current.routes, id),
  );
  const newIds = new Map(added.map((id) => [requestsOf(after.routes[id]), id]));
  for (const [id, route] of Object.entries(before.routes)) {
    const newId = newIds.get(requestsOf(route));
    if (newId !== undefined && !Object.hasOwn(after.routes, id) && Object.hasOwn(current.routes, id))
      renames.set(id, newId);
  }
  return renames;
}

function requestsOf(route: unknown): string {
  return isMap(route) ? JSON.stringify([route['method'], route['path']]) : '';
}

/** Merges each schema and each route. */
function mergeSections(base: RouteFileValues, own: RouteFileValues, next: RouteFileValues): MergeResult {
  const results = (['schemas', 'routes'] as const).map((section) =>
    mergeMembers(base[section], own[section], next[section], [section]),
  );
  return { edits: results.flatMap(({ edits }) => edits), conflicts: results.flatMap(({ conflicts }) => conflicts) };
}

/**
 * A public route has no roles. Keeps what a person wrote if the document makes a route with roles public, or gives roles to a public
 * route.
 */
function keepRestrictions({ edits, conflicts }: MergeResult, { routes }: RouteFileValues): MergeResult {
  const hasEdit = (path: Path) => edits.some((other) => isDeepStrictEqual(other.path, path));
  const isRefused = ({ path, value }: MergeEdit) => {
    const [section, id, key] = path;
    const route = section === 'routes' ? routes[String(id)] : undefined;
    if (path.length !== 3 || !isMap(route)) return false;
    if (key === 'access')
      return value === 'public' && route['roles'] !== undefined && !hasEdit(['routes', String(id), 'roles']);
    return (
      key === 'roles' &&
      value !== undefined &&
      route['access'] === 'public' &&
      !hasEdit(['routes', String(id), 'access'])
    );
  };
  const refused = edits.filter(isRefused);
  return { edits: edits.filter((edit) => !isRefused(edit)), conflicts: [...conflicts, ...refused] };
}

function isSchemaRemoval({ path, value }: MergeEdit): boolean {
  return path[0] === 'schemas' && path.length === 2 && value === undefined;
}

function countRoutes(
  edits: readonly MergeEdit[],
  current: RouteFileValues,
  renames: ReadonlyMap<string, string>,
): Pick<MergedImport, 'added' | 'changed' | 'removed'> {
  const routes = edits.filter(({ path }) => path[0] === 'routes');
  const added = routes.filter(({ path }) => !Object.hasOwn(current.routes, String(path[1])));
  const removed = routes.filter(({ path, value }) => path.length === 2 && value === undefined);
  const changed = routes.filter((edit) => !added.includes(edit) && !removed.includes(edit));
  const changedIds = new Set([...changed.map(({ path }) => String(path[1])), ...renames.keys()]);
  return { added: added.length, changed: changedIds.size, removed: removed.length };
}
