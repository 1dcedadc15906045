import { isDeepStrictEqual } from 'node:util';
import type { Path } from '../../engine/problem/finding.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';

/** A change of the document that the file takes: a new value, or `undefined` to remove the value. */
export interface MergeEdit {
  readonly path: Path;
  readonly value: unknown;
}

/** A part that a person and the document have changed differently. The file keeps its own value. */
export interface MergeConflict {
  readonly path: Path;
  /** The value of the document; `undefined` if the document removes it. */
  readonly value: unknown;
}

export interface MergeResult {
  readonly edits: readonly MergeEdit[];
  readonly conflicts: readonly MergeConflict[];
}

/**
 * Merges two versions of a value, each with changes since a common base. Maps are merged member by member, and lists are one value.
 *
 * @param base the last import
 * @param own the file, which a person may have edited
 * @param next the import of the present document
 */
function mergeValues(base: unknown, own: unknown, next: unknown, path: Path): MergeResult {
  if (isDeepStrictEqual(base, next) || isDeepStrictEqual(own, next)) return { edits: [], conflicts: [] };
  // Also without an edit: a map that is replaced as a whole loses its comments.
  if (isMap(own) && isMap(next)) return mergeMembers(isMap(base) ? base : {}, own, next, path);
  if (isDeepStrictEqual(base, own)) return { edits: [{ path, value: next }], conflicts: [] };
  return { edits: [], conflicts: [{ path, value: next }] };
}

type Members = Readonly<Record<string, unknown>>;

/** Merges the members of maps, each on its own. */
export function mergeMembers(base: Members, own: Members, next: Members, path: Path): MergeResult {
  const keys = [...new Set([base, own, next].flatMap((map) => Object.keys(map)))];
  const results = keys.map((key) =>
    mergeValues(memberOf(base, key), memberOf(own, key), memberOf(next, key), [...path, key]),
  );
  return { edits: results.flatMap(({ edits }) => edits), conflicts: results.flatMap(({ conflicts }) => conflicts) };
}

/** A schema may have a member such as `toString`. */
function memberOf(map: Members, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
