import { compileFromInput, createPlannedManifest, type PlannedManifest } from '../../engine/load.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runInSlices } from '../../engine/plan/sliced-work.ts';
import type { FileSnapshot } from './file-thread.ts';
import {
  assembleManifest,
  type LocatedProblems,
  type ManifestThread,
  type ReadFailure,
  type UnsavedManifest,
} from './manifest-thread.ts';
import { comparePlansSliced, type PlanChanges } from './plan-changes.ts';

/** The longest time that compiling delays a request. */
const SLICE_MS = 5;

/** The plan of the saved manifest, or the problems or the error that prevent it, with the files that were read. */
export type PreparedReload = { readonly snapshot: FileSnapshot } & (
  | { readonly planned: PlannedManifest; readonly changes: PlanChanges }
  | LocatedProblems
  | ReadFailure
);

/** Prepares the saved manifest, or an unsaved one, in the thread, and compiles it here from parts of `active`. Activates nothing. */
export async function prepareReload(
  manifestThread: ManifestThread,
  active: Plan,
  unsaved?: UnsavedManifest,
): Promise<PreparedReload> {
  const read = await manifestThread.request('read', unsaved);
  if (!('checked' in read)) return read;
  const { snapshot, sources, texts } = read;
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  const compileInput = { checked, texts };
  const plan = await runInSlices(compileFromInput(compileInput, active), SLICE_MS);
  const changes = await runInSlices(comparePlansSliced(active, plan), SLICE_MS);
  const { dependencies } = snapshot;
  return { planned: createPlannedManifest({ compileInput, plan, sources, dependencies }), changes, snapshot };
}
