import { createPlannedManifest, type PlannedManifest, planManifest } from '../../engine/load.ts';
import type { CheckedManifest } from '../../engine/manifest/read-manifest.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runInSlices } from '../../engine/plan/sliced-work.ts';
import type { FileSnapshot } from './file-snapshot.ts';
import type { FileContent, FileReader } from './file-thread.ts';
import {
  assembleManifest,
  type LocatedProblems,
  limitFindings,
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

/**
 * Reads, checks, compiles and tests the saved manifest, or an unsaved one in its place. Activates nothing.
 *
 * @param likelyFiles the files that the manifest named before; they are read in one request
 * @param active the plan from which unchanged parts are taken over
 */
export async function prepareReload(
  manifestThread: ManifestThread,
  readFiles: FileReader,
  likelyFiles: Iterable<string>,
  active: Plan,
  unsaved?: UnsavedManifest,
): Promise<PreparedReload> {
  const read = await manifestThread.request('read', unsaved);
  if ('reason' in read) return { ...read, snapshot: EMPTY_SNAPSHOT };
  const { manifestHash, sources } = read;
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  if (checked === undefined) {
    const snapshot = { manifestHash, dependencies: read.dependencies };
    return { ...(await manifestThread.request('locate', read.findings)), snapshot };
  }
  const { plan, findings, files, texts } = await compileFromFiles(checked, readFiles, likelyFiles, active);
  const { globs } = read.dependencies;
  const dependencies = { files: new Map([...read.dependencies.files, ...files]), globs };
  const snapshot = { manifestHash, dependencies };
  if (plan === undefined)
    return { ...(await manifestThread.request('locate', limitFindings(findings, unsaved))), snapshot };
  if (plan.reload.selfTest !== undefined) {
    const selfTest = await manifestThread.request('selfTest', undefined);
    if (selfTest.problems.length > 0) return { ...selfTest, snapshot };
  }
  const changes = await runInSlices(comparePlansSliced(active, plan), SLICE_MS);
  const planned = createPlannedManifest({ compileInput: { checked, texts }, plan, sources, dependencies });
  return { planned, changes, snapshot };
}

/**
 * Compiles on this thread, with file contents from the file thread. If the compilation needs a file that was not read, reads
 * it and starts the compilation again, because the compiler is synchronous.
 */
async function compileFromFiles(
  checked: CheckedManifest,
  readFiles: FileReader,
  likelyFiles: Iterable<string>,
  active: Plan,
) {
  const contents = new Map(await readFiles([...likelyFiles]));
  for (;;) {
    const files = new Map<string, string>();
    const texts = new Map<string, string>();
    const missing = new Set<string>();
    const readFile = (path: string): string => {
      const content = contents.get(path);
      if (content === undefined) missing.add(path);
      files.set(path, hashOfFile(content));
      const text = textOfFile(content);
      texts.set(path, text);
      return text;
    };
    const compiled = await runInSlices(planManifest(checked, readFile, active), SLICE_MS);
    if (missing.size === 0) return { ...compiled, files, texts };
    for (const [path, content] of await readFiles([...missing])) contents.set(path, content);
  }
}

function hashOfFile(content: FileContent | undefined): string {
  return content !== undefined && 'hash' in content ? content.hash : '';
}

/** Throws an error with the code of the failed read. */
function textOfFile(content: FileContent | undefined): string {
  if (content !== undefined && 'text' in content) return content.text;
  throw Object.assign(new Error('the file cannot be read'), { code: content?.code ?? 'ENOENT' });
}

/** The snapshot of a manifest that cannot be read. Any readable manifest differs from it. */
const EMPTY_SNAPSHOT: FileSnapshot = { manifestHash: '', dependencies: { files: new Map(), globs: new Map() } };
