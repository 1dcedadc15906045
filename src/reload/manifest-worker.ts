import { resolve } from 'node:path';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { sha256, type TrackedEnvironment, trackDependencies } from '../manifest/dependencies.ts';
import { parse } from '../manifest/document.ts';
import { createFileEnvironment } from '../manifest/file-environment.ts';
import type { DocumentParser } from '../manifest/include.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import { type CheckedManifest, checkManifest, type ReadManifest, readManifest } from '../manifest/read-manifest.ts';
import type { Source } from '../manifest/source.ts';
import type { Finding } from '../problem/finding.ts';
import { toProblems } from '../problem/problem.ts';
import type {
  LocatedProblems,
  ManifestThreadOptions,
  ManifestThreadRequest,
  ReadFailure,
  TransferredManifest,
} from './manifest-thread.ts';
import { countOperations } from './operation-counter.ts';
import type { WorkerInput } from './worker-thread.ts';

interface WorkerReadResult extends Pick<TransferredManifest, 'dependencies' | 'manifestHash'> {
  readonly read: ReadManifest;
  readonly checked: CheckedManifest | undefined;
  readonly environment: TrackedEnvironment;
}

// The YAML parser looks for a variable at each token, and each time the system is asked: a sixth of the whole time.
process.env = {};

/** The other side of `reading-thread.ts`: answers one question after the other. */
const { path, env, operations } = workerData as WorkerInput<ManifestThreadOptions>;
const environment = countOperations(createFileEnvironment(path, env), operations);
/** Who begins the thread to ask it something has asked by then. */
const WARM_UP_DELAY_MS = 100;

/** The last result, for requests about it. */
let last: WorkerReadResult | undefined;

parentPort?.on('message', async ({ id, question }: { id: number; question: ManifestThreadRequest }) => {
  if (question.kind === 'read') respond(id, toTransferred(readSavedManifest()));
  else if (question.kind === 'place') respond(id, locateFindings(question.findings));
  else respond(id, await runManifestSelfTest());
});

// Nobody asks as the gateway starts. What is there is read all the same: at first that takes half as long again.
setTimeout(() => {
  if (last === undefined) readSavedManifest();
}, WARM_UP_DELAY_MS);

function respond(id: number, given: TransferredManifest | ReadFailure | LocatedProblems): void {
  const ports = 'routes' in given && given.routes !== undefined ? [given.routes] : [];
  parentPort?.postMessage({ id, answer: given }, ports);
}

function readSavedManifest(): WorkerReadResult | ReadFailure {
  let text: string;
  try {
    text = environment.readFile(resolve(path));
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
  const { dependencies, environment: tracked } = trackDependencies(environment);
  const read = readManifest({ path, text }, tracked, parseCached);
  evictUnusedFiles(read);
  const checked = checkManifest(read, env);
  last = { read, checked, environment: tracked, dependencies, manifestHash: sha256(text) };
  return last;
}

function toTransferred(result: WorkerReadResult | ReadFailure): TransferredManifest | ReadFailure {
  if ('reason' in result) return result;
  const { read, checked, dependencies, manifestHash } = result;
  const { findings, sources } = read;
  const routes: unknown = (checked?.manifest as Partial<Manifest> | null | undefined)?.routes;
  const transferred = { findings, sources, dependencies, manifestHash };
  if (checked === undefined || !Array.isArray(routes)) return { ...transferred, checked, routes: undefined };
  const manifest = { ...checked.manifest, routes: [] };
  return { ...transferred, checked: { ...checked, manifest }, routes: sendInChunks(routes) };
}

/** What texts were parsed into, by their files: of many files seldom more than one changes. */
const parseCache = new Map<string, { readonly text: string; readonly result: ReturnType<DocumentParser> }>();

function parseCached(source: Source): ReturnType<DocumentParser> {
  const known = parseCache.get(source.path);
  if (known?.text === source.text) return known.result;
  // What it was before may be large, and so may what it is now.
  last = undefined;
  parseCache.delete(source.path);
  const result = parse(source);
  parseCache.set(source.path, { text: source.text, result });
  return result;
}

function evictUnusedFiles({ sources }: ReadManifest): void {
  const files = new Set(sources.map(({ path }) => path));
  for (const file of parseCache.keys()) if (!files.has(file)) parseCache.delete(file);
}

/** To take in so many routes takes about a millisecond. */
const ROUTES_PER_CHUNK = 250;

function sendInChunks(routes: readonly unknown[]): MessagePort {
  const { port1, port2 } = new MessageChannel();
  for (let at = 0; at < routes.length; at += ROUTES_PER_CHUNK)
    port1.postMessage(routes.slice(at, at + ROUTES_PER_CHUNK));
  return port2;
}

function locateFindings(findings: readonly Finding[]): LocatedProblems {
  if (last === undefined) throw new Error('no manifest was read');
  const { document, sources } = last.read;
  return { problems: toProblems(findings, document), sources };
}

async function runManifestSelfTest(): Promise<LocatedProblems> {
  if (last?.checked === undefined) throw new Error('no manifest was read');
  const { read, checked, dependencies, environment } = last;
  // These files load the gateway, which a worker that only reads must not hold in memory.
  const [{ createPlannedManifest, planManifest }, { runToEnd }, { runSelfTest }] = await Promise.all([
    import('../load.ts'),
    import('../plan/sliced-work.ts'),
    import('./self-test.ts'),
  ]);
  const { document, sources } = read;
  const { plan, findings } = runToEnd(planManifest(checked, environment.readFile, undefined));
  // A file has changed since the main thread compiled the plan. The next reload reads all files again.
  if (plan === undefined) return locateFindings(findings);
  return runSelfTest(createPlannedManifest({ checked, plan, document, sources, dependencies }), environment);
}
