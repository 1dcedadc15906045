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

/** Requests wait no longer than this for a piece of the work. */
const SLICE_MS = 5;

/** What the files are, as far as they can be read. */
export type PreparedReload = { readonly snapshot: FileSnapshot } & (
  | { readonly planned: PlannedManifest; readonly changes: PlanChanges }
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
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  const compiled = await compileFromFiles({ checked, findings: read.findings }, files, named, active);
  const { manifestHash: own, dependencies } = read;
  const snapshot = {
    manifestHash: own,
    dependencies: { files: new Map([...dependencies.files, ...compiled.files]), globs: dependencies.globs },
  };
  if (compiled.plan === undefined || checked === undefined)
    return { ...(await thread.locate(compiled.findings)), snapshot };
  if (compiled.plan.reload.selfTest !== undefined) {
    const tested = await thread.runSelfTest();
    if (tested.problems.length > 0) return { ...tested, snapshot };
  }
  const changes = await runInSlices(comparePlansSliced(active, compiled.plan), SLICE_MS);
  const planned = new LazyPlannedManifest(compiled.plan, checked, read.sources, snapshot.dependencies);
  return { planned, changes, snapshot };
}

/**
 * Compiles on this thread, with texts that the thread for files has read. A file that was not read before its text was
 * needed is read then, and the compilation begins again.
 */
async function compileFromFiles(
  written: Parameters<typeof planManifest>[0],
  thread: FileThread,
  named: Iterable<string>,
  active: Plan,
) {
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
    const made = await runInSlices(planManifest(written, readFile, active), SLICE_MS);
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

/** A plan and what it was made of. Where in the texts something stands is seldom asked: they are parsed again for it. */
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
