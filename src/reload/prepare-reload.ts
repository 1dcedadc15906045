import { type PlannedManifest, planManifest } from '../load.ts';
import type { Dependencies } from '../manifest/dependencies.ts';
import type { Document } from '../manifest/document.ts';
import { parseDocuments } from '../manifest/include.ts';
import type { SchemaCheckedManifest } from '../manifest/read-manifest.ts';
import { createSecrets } from '../manifest/secrets.ts';
import type { Source } from '../manifest/source.ts';
import { comparePlansSliced, type PlanChanges } from '../plan/changes.ts';
import type { Plan } from '../plan/plan.ts';
import { runInSlices } from '../plan/sliced-work.ts';
import type { FileSnapshot } from './file-snapshot.ts';
import type { FileContent, FileThread } from './file-thread.ts';
import { assembleManifest, type LocatedProblems, type ManifestThread, type ReadFailure } from './manifest-thread.ts';

/** The longest time that compiling delays a request. */
const SLICE_MS = 5;

/** The plan of the saved manifest, or the problems or the error that prevent it, with the files that were read. */
export type PreparedReload = { readonly snapshot: FileSnapshot } & (
  | { readonly planned: PlannedManifest; readonly changes: PlanChanges }
  | LocatedProblems
  | ReadFailure
);

/**
 * Reads, checks, compiles and tests the saved manifest. Activates nothing.
 *
 * @param likelyFiles the files that the manifest named before; they are read in one request
 * @param active the plan from which unchanged parts are taken over
 */
export async function prepareReload(
  manifestThread: ManifestThread,
  fileThread: FileThread,
  likelyFiles: Iterable<string>,
  active: Plan,
): Promise<PreparedReload> {
  const read = await manifestThread.read();
  if ('reason' in read) return { ...read, snapshot: EMPTY_SNAPSHOT };
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  const compiled = await compileFromFiles({ checked, findings: read.findings }, fileThread, likelyFiles, active);
  const { manifestHash, dependencies } = read;
  const snapshot = {
    manifestHash,
    dependencies: { files: new Map([...dependencies.files, ...compiled.files]), globs: dependencies.globs },
  };
  if (compiled.plan === undefined || checked === undefined)
    return { ...(await manifestThread.locate(compiled.findings)), snapshot };
  if (compiled.plan.reload.selfTest !== undefined) {
    const selfTest = await manifestThread.runSelfTest();
    if (selfTest.problems.length > 0) return { ...selfTest, snapshot };
  }
  const changes = await runInSlices(comparePlansSliced(active, compiled.plan), SLICE_MS);
  const planned = new LazyPlannedManifest(compiled.plan, checked, read.sources, snapshot.dependencies);
  return { planned, changes, snapshot };
}

/**
 * Compiles on this thread, with file contents from the file thread. If the compilation needs a file that was not read,
 * the file is read and the compilation starts again, because compiling cannot wait in the middle.
 */
async function compileFromFiles(
  manifest: Parameters<typeof planManifest>[0],
  fileThread: FileThread,
  likelyFiles: Iterable<string>,
  active: Plan,
) {
  const contents = new Map(await fileThread.readFiles([...likelyFiles]));
  for (;;) {
    const files = new Map<string, string>();
    const missing = new Set<string>();
    const readFile = (path: string): string => {
      const content = contents.get(path);
      if (content === undefined) missing.add(path);
      files.set(path, hashOfFile(content));
      return textOfFile(content);
    };
    const compiled = await runInSlices(planManifest(manifest, readFile, active), SLICE_MS);
    if (missing.size === 0) return { ...compiled, files };
    for (const [path, content] of await fileThread.readFiles([...missing])) contents.set(path, content);
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

/** Stands in for a manifest that cannot be read: any content later differs from it. */
const EMPTY_SNAPSHOT: FileSnapshot = { manifestHash: '', dependencies: { files: new Map(), globs: new Map() } };

/**
 * A planned manifest without its parsed document. Positions are rarely needed, so the document is parsed again on first
 * use.
 */
class LazyPlannedManifest implements PlannedManifest {
  readonly plan: Plan;
  readonly manifest: PlannedManifest['manifest'];
  readonly sources: readonly Source[];
  readonly files: PlannedManifest['files'];
  readonly globs: PlannedManifest['globs'];
  readonly secrets: PlannedManifest['secrets'];
  readonly problems = [];
  #document: Document | undefined;

  constructor(
    plan: Plan,
    { manifest, secrets }: SchemaCheckedManifest,
    sources: readonly Source[],
    { files, globs }: Dependencies,
  ) {
    this.plan = plan;
    this.manifest = manifest;
    this.sources = sources;
    this.files = files;
    this.globs = globs;
    this.secrets = createSecrets(secrets);
  }

  get document(): Document {
    this.#document ??= parseDocuments(this.sources);
    return this.#document;
  }
}
