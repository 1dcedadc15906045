import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import { changeTexts, type ManifestChange, type MapPlace } from './manifest-change.ts';
import type { Proposal } from './proposal.ts';
import { createState, loadTexts, type TightenState } from './tighten-state.ts';
import type { RequestGroup } from './usage.ts';

/** The inputs that all versions of the manifest share. */
export interface TightenInputs {
  readonly environment: Environment;
  /** The requests that every version must allow. */
  readonly allowed: readonly RequestGroup[];
}

/**
 * Applies proposals to a version of the manifest and replays all allowed requests.
 *
 * @returns `undefined` if the texts cannot be edited, the result has errors, or a request is refused or matches another route
 */
export function applyProposals(
  state: TightenState,
  proposals: readonly Proposal[],
  { environment, allowed }: TightenInputs,
): TightenState | undefined {
  if (proposals.length === 0) return state;
  const { sources, manifest, plan } = state.loaded;
  const changes = proposals.flatMap((proposal) => proposal.changes);
  const changed = changeTexts({ sources, manifest }, changes);
  const loaded = changed && loadTexts(changed, environment, plan);
  if (loaded === undefined || !isRestEqual(manifest, loaded.manifest, changes)) return undefined;
  const next = createState(loaded, allowed, originsAfter(state, changes));
  return next.lost.length === 0 ? next : undefined;
}

function originsAfter({ origins }: TightenState, changes: readonly ManifestChange[]): ReadonlyMap<string, string> {
  const after = new Map(origins);
  for (const change of changes)
    if (change.change === 'split')
      for (const { id } of change.into) after.set(id, origins.get(change.route) ?? change.route);
  return after;
}

/** True if all that the changes do not name is equal: an edit of the text must change nothing else. */
function isRestEqual(before: Manifest, after: Manifest, changes: readonly ManifestChange[]): boolean {
  const named = new Set(changes.flatMap(routesOf));
  const rest = (manifest: Manifest) => {
    const copy = structuredClone(manifest) as Omit<Manifest, 'routes'> & { routes: unknown[] };
    copy.routes = manifest.routes.filter(({ id }) => !named.has(id));
    for (const change of changes)
      if (change.change !== 'split' && 'path' in change.place)
        deleteAt(copy, 'key' in change ? [...change.place.path, change.key ?? ''] : change.place.path);
    return copy;
  };
  return isDeepStrictEqual(rest(before), rest(after));
}

function routesOf(change: ManifestChange): string[] {
  if (change.change === 'split') return [change.route, ...change.into.map(({ id }) => id)];
  return 'route' in change.place ? [change.place.route] : [];
}

function deleteAt(root: unknown, path: Extract<MapPlace, { path: unknown }>['path']): void {
  let at = root as Record<string | number, unknown> | undefined;
  for (const step of path.slice(0, -1)) at = at?.[step] as typeof at;
  if (at !== undefined && path.length > 0) delete at[path.at(-1) as string];
}
