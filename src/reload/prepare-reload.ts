import { createPlannedManifest, type PlannedManifest, planManifest } from '../load.ts';
import type { CheckedManifest } from '../manifest/read-manifest.ts';
import type { Plan } from '../plan/plan.ts';
import { runInSlices } from '../plan/sliced-work.ts';
import type { FileSnapshot } from './file-snapshot.ts';
import type { FileContent, FileThread } from './file-thread.ts';
import { assembleManifest, type LocatedProblems, type ManifestThread, type ReadFailure } from './manifest-thread.ts';

/** Requests wait no longer than this for a piece of the work. */
const SLICE_MS = 5;

/** What the files are, as far as they can be read. */
export type PreparedReload = { readonly snapshot: FileSnapshot } & (
  | { readonly planned: PlannedManifest }
  | LocatedProblems
  | ReadFailure
);

/**
 * Reads, compiles and verifies the saved manifest, and activates nothing. Requests are served meanwhile.
 *
 * @param named the files that the manifest named before: it probably names them still
 * @param active the plan from which unchanged parts are taken over
 */
export async function prepareReload(
  thread: ManifestThread,
  files: FileThread,
  named: Iterable<string>,
  active: Plan,
): Promise<PreparedReload> {
  const read = await thread.read();
  // The files that it names are unknown then, and will be known once it is back.
  if ('reason' in read) return { ...read, snapshot: EMPTY_SNAPSHOT };
  const { manifestHash, sources } = read;
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  if (checked === undefined)
    return {
      ...(await thread.locate(read.findings)),
      snapshot: { manifestHash, dependencies: read.dependencies },
    };
  const { plan, findings, files: compiledFiles } = await compileFromFiles(checked, files, named, active);
  const { globs } = read.dependencies;
  const dependencies = { files: new Map([...read.dependencies.files, ...compiledFiles]), globs };
  const snapshot = { manifestHash, dependencies };
  if (plan === undefined) return { ...(await thread.locate(findings)), snapshot };
  if (plan.reload.selfTest !== undefined) {
    const selfTest = await thread.runSelfTest();
    if (selfTest.problems.length > 0) return { ...selfTest, snapshot };
  }
  return { planned: createPlannedManifest({ checked, plan, sources, dependencies }), snapshot };
}

/**
 * Compiles on this thread, with texts that the thread for files has read. A file that was not read before its text was
 * needed is read then, and the compilation begins again.
 */
async function compileFromFiles(checked: CheckedManifest, thread: FileThread, named: Iterable<string>, active: Plan) {
  const texts = new Map(await thread.readFiles([...named]));
  for (;;) {
    const files = new Map<string, string>();
    const missing = new Set<string>();
    const readFile = (path: string): string => {
      const text = texts.get(path);
      if (text === undefined) missing.add(path);
      files.set(path, hashOfFile(text));
      return textOfFile(text);
    };
    const made = await runInSlices(planManifest(checked, readFile, active), SLICE_MS);
    if (missing.size === 0) return { ...made, files };
    for (const [path, text] of await thread.readFiles([...missing])) texts.set(path, text);
  }
}

function hashOfFile(text: FileContent | undefined): string {
  return text !== undefined && 'hash' in text ? text.hash : '';
}

/** Throws an error with the code that reading the file gave. */
function textOfFile(text: FileContent | undefined): string {
  if (text !== undefined && 'text' in text) return text.text;
  throw Object.assign(new Error('the file cannot be read'), { code: text?.code ?? 'ENOENT' });
}

const EMPTY_SNAPSHOT: FileSnapshot = { manifestHash: '', dependencies: { files: new Map(), globs: new Map() } };
