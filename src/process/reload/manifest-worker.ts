import { resolve } from 'node:path';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { sha256, trackDependencies } from '../../engine/manifest/dependencies.ts';
import { type DocumentParser, parse } from '../../engine/manifest/document.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import {
  type CheckedManifest,
  checkManifest,
  type ReadManifest,
  readManifest,
} from '../../engine/manifest/read-manifest.ts';
import { createFileEnvironment, type Environment, type Source } from '../../engine/manifest/source.ts';
import type { Finding } from '../../engine/problem/finding.ts';
import { referencedSources, toProblems } from '../../engine/problem/problem.ts';
import { type ChannelPort, type Requests, ThreadChannel } from '../workers/thread-channel.ts';
import {
  type LocatedProblems,
  limitFindings,
  type ManifestRequests,
  type ManifestThreadOptions,
  type ReadFailure,
  type TransferredManifest,
  type UnsavedManifest,
} from './manifest-thread.ts';
import { countOperations } from './operation-counter.ts';
import { restrictFiles } from './unsaved-manifest.ts';
import type { WorkerInput } from './worker-thread.ts';

interface WorkerReadResult extends Pick<TransferredManifest, 'dependencies' | 'manifestHash'> {
  readonly read: ReadManifest;
  readonly checked: CheckedManifest | undefined;
  /** The files from which the plan is compiled. */
  readonly environment: Environment;
}

// The YAML parser reads an environment variable for each token. As a system call each time, that takes a sixth of the
// parsing time.
process.env = {};

/** The input of this thread, which `manifest-thread.ts` starts. */
const { path, env, overrides, operations } = workerData as WorkerInput<ManifestThreadOptions>;
const saved = countOperations(createFileEnvironment(path, env, overrides), operations);
/** The delay before the warm-up. A thread that was started for a request receives it sooner and needs no warm-up. */
const WARM_UP_DELAY_MS = 100;

/** The manifest that was read last. */
let last: WorkerReadResult | undefined;

const channel = new ThreadChannel<Requests, ManifestRequests>(parentPort as ChannelPort);
channel.handle(
  'read',
  (unsaved) => toTransferred(readOneManifest(unsaved), unsaved),
  (result) => ('routes' in result && result.routes !== undefined ? [result.routes] : []),
);
channel.handle('locate', locateFindings);
channel.handle('selfTest', runManifestSelfTest);

// Read the files once to warm up the thread: the first read takes 1.5 times as long as later ones.
setTimeout(() => {
  if (last === undefined) readOneManifest(undefined);
}, WARM_UP_DELAY_MS);

function readOneManifest(unsaved: UnsavedManifest | undefined): WorkerReadResult | ReadFailure {
  const environment = unsaved === undefined ? saved : restrictFiles(saved, path, unsaved, unsaved.includes);
  let text: string;
  try {
    text = environment.readFile(resolve(path));
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
  const { dependencies, environment: tracked } = trackDependencies(environment);
  const read = readManifest({ path, text }, tracked, parseCached);
  evictUnusedFiles(read);
  const checked = checkManifest(read, environment, unsaved?.references);
  const compileEnvironment = unsaved === undefined ? saved : restrictFiles(saved, path, unsaved, unsaved.files);
  last = { read, checked, dependencies, environment: compileEnvironment, manifestHash: sha256(text) };
  return last;
}

function toTransferred(
  result: WorkerReadResult | ReadFailure,
  unsaved: UnsavedManifest | undefined,
): TransferredManifest | ReadFailure {
  if ('reason' in result) return result;
  const { read, checked, dependencies, manifestHash } = result;
  const { sources } = read;
  const findings = limitFindings(read.findings, unsaved);
  const routes: unknown = (checked?.manifest as Partial<Manifest> | null | undefined)?.routes;
  const common = { findings, dependencies, manifestHash, sources };
  if (checked === undefined || !Array.isArray(routes)) return { ...common, checked, routes: undefined };
  const manifest = { ...checked.manifest, routes: [] };
  const limited = { ...checked, manifest, findings: limitFindings(checked.findings, unsaved) };
  return { ...common, checked: limited, routes: sendInChunks(routes) };
}

/** Parsed files by path, because a save usually changes one of many files. */
const parseCache = new Map<string, { readonly text: string; readonly result: ReturnType<DocumentParser> }>();

function parseCached(source: Source): ReturnType<DocumentParser> {
  const cached = parseCache.get(source.path);
  if (cached?.text === source.text) return cached.result;
  // Free the old document before parsing: both may be large.
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

/** Receiving this many routes takes about a millisecond. */
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
  const allSources = [...sources, ...referencedSources(findings, document.file)];
  return { problems: toProblems(findings, document), sources: allSources };
}

async function runManifestSelfTest(): Promise<LocatedProblems> {
  if (last?.checked === undefined) throw new Error('no manifest was read');
  const { read, checked, dependencies, environment } = last;
  // Imported lazily: these modules load the complete gateway, which costs time and memory.
  const [{ createPlannedManifest, planManifest }, { runToEnd }, { runSelfTest }] = await Promise.all([
    import('../../engine/load.ts'),
    import('../../engine/plan/sliced-work.ts'),
    import('../../prove/self-test.ts'),
  ]);
  const { document, sources } = read;
  const { plan, findings } = runToEnd(planManifest(checked, environment.readFile, undefined));
  // The caller compiled the same manifest without errors. If there are errors now, a file has changed, and the caller, which
  // compares the files afterwards, starts again.
  if (plan === undefined) return locateFindings(findings);
  // The self-test compiles no plan in another thread, which would need the texts.
  const compileInput = { checked, texts: new Map<string, string>() };
  return runSelfTest(createPlannedManifest({ compileInput, plan, document, sources, dependencies }), environment);
}
