import { resolve } from 'node:path';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createPlannedManifest, planManifest } from '../../engine/load.ts';
import { sha256, trackDependencies } from '../../engine/manifest/dependencies.ts';
import { checkManifest, readManifest } from '../../engine/manifest/read-manifest.ts';
import { createFileEnvironment } from '../../engine/manifest/source.ts';
import { type Finding, SEVERITY_RANKS } from '../../engine/problem/finding.ts';
import { referencedSources, toProblems } from '../../engine/problem/problem.ts';
import { type ChannelPort, type Requests, ThreadChannel } from '../workers/thread-channel.ts';
import type { ManifestRequests, ManifestThreadOptions, UnsavedManifest } from './manifest-thread.ts';
import { countOperations } from './operation-counter.ts';
import { restrictFiles } from './unsaved-manifest.ts';
import type { WorkerInput } from './worker-thread.ts';

// The YAML parser reads an environment variable for each token. As a system call each time, that takes a sixth of the
// parsing time.
process.env = {};

/** The input of this thread, which `manifest-thread.ts` starts. */
const { path, env, overrides, secretsFolder, operations } = workerData as WorkerInput<ManifestThreadOptions>;
const saved = countOperations(createFileEnvironment(path, env, overrides, secretsFolder), operations);
/** The delay before the warm-up. A thread that was started for a request receives it sooner and needs no warm-up. */
const WARM_UP_DELAY_MS = 100;

let isUsed = false;

const channel = new ThreadChannel<Requests, ManifestRequests>(parentPort as ChannelPort);
channel.handle('read', readAndCompile, (result) => ('routes' in result ? [result.routes] : []));

// Read the files once to warm up the thread: the first read takes 1.5 times as long as later ones.
setTimeout(() => {
  if (!isUsed) void readAndCompile(undefined).catch(() => undefined);
}, WARM_UP_DELAY_MS);

/** Reads, checks, compiles and tests the manifest. Returns everything that the serving thread needs to compile it without a check. */
async function readAndCompile(unsaved: UnsavedManifest | undefined): Promise<ManifestRequests['read']['result']> {
  isUsed = true;
  const restricted = (files: readonly string[]) =>
    unsaved === undefined ? saved : restrictFiles(saved, path, unsaved, files);
  const forReading = trackDependencies(restricted(unsaved?.includes ?? []));
  const forCompiling = trackDependencies(restricted(unsaved?.files ?? []));
  let text: string;
  try {
    text = restricted([]).readFile(resolve(path));
  } catch (error) {
    const snapshot = { manifestHash: '', dependencies: forReading.dependencies };
    return { reason: error instanceof Error ? error.message : String(error), snapshot };
  }
  const read = readManifest({ path, text }, forReading.environment);
  const { document, sources } = read;
  const checked = checkManifest(read, forReading.environment, unsaved?.references);
  const texts = new Map<string, string>();
  const readFile = (file: string) => {
    const content = forCompiling.environment.readFile(file);
    texts.set(file, content);
    return content;
  };
  const { plan, findings } =
    checked === undefined ? { plan: undefined, findings: read.findings } : planManifest(checked, readFile);
  const dependencies = {
    ...forReading.dependencies,
    files: new Map([...forReading.dependencies.files, ...forCompiling.dependencies.files]),
  };
  const snapshot = { manifestHash: sha256(text), dependencies };
  if (checked === undefined || plan === undefined) {
    const kept = limitFindings(findings, unsaved);
    const allSources = [...sources, ...referencedSources(kept, document.file)];
    return { problems: toProblems(kept, document), sources: allSources, snapshot };
  }
  if (plan.reload.selfTest !== undefined) {
    const compileInput = { checked, texts };
    // Imported lazily: most manifests have no test.
    const { runSelfTest } = await import('../../prove/self-test.ts');
    const planned = createPlannedManifest({ compileInput, plan, document, sources, dependencies });
    const tested = await runSelfTest(planned, { readFile });
    if (tested.problems.length > 0) return { ...tested, snapshot };
  }
  const { routes } = checked.manifest;
  const checkedRest = { ...checked, manifest: { ...checked.manifest, routes: [] } };
  return { checked: checkedRest, routes: sendInChunks(routes), texts, sources, snapshot };
}

/** Each problem takes the serving thread time. A person reads only the first ones. */
const MAX_FINDINGS = 1_000;

/** Keeps the most severe findings, and each one that hides a secret of a saved file. */
function limitFindings(findings: readonly Finding[], unsaved: UnsavedManifest | undefined): readonly Finding[] {
  const isKept = ({ isSecret }: Finding, index: number) => index < MAX_FINDINGS || (isSecret && unsaved === undefined);
  if (findings.length <= MAX_FINDINGS) return findings;
  return findings.toSorted((a, b) => SEVERITY_RANKS[b.severity] - SEVERITY_RANKS[a.severity]).filter(isKept);
}

/** Receiving this many routes takes about a millisecond. */
const ROUTES_PER_CHUNK = 250;

function sendInChunks(routes: readonly unknown[]): MessagePort {
  const { port1, port2 } = new MessageChannel();
  for (let at = 0; at < routes.length; at += ROUTES_PER_CHUNK)
    port1.postMessage(routes.slice(at, at + ROUTES_PER_CHUNK));
  return port2;
}
