import { parentPort, workerData } from 'node:worker_threads';
import { fileSizeError, MAX_ALL_CHARACTERS, sha256 } from '../manifest/dependencies.ts';
import { createFileEnvironment } from '../manifest/file-environment.ts';
import { bypassThreadPool } from './bypass-thread-pool.ts';
import { changesSince, type FileSnapshot, hashManifest, type ManifestFiles, pathsToWatch } from './file-snapshot.ts';
import type { FileChanges, FileContent, FileThreadRequest, FileWatchEvent } from './file-thread.ts';
import { type FileWatcher, watchFiles } from './file-watcher.ts';
import { countOperations, runOperation } from './operation-counter.ts';
import { isConsistent, waitUntilSettled } from './settled-files.ts';
import type { WorkerInput } from './worker-thread.ts';

/** The other side of `file-thread.ts`. All of its file operations run on its own thread. */
const { path, operations } = workerData as WorkerInput<{ readonly path: string }>;
bypassThreadPool(operations);
const manifestFiles: ManifestFiles = {
  path,
  environment: countOperations(createFileEnvironment(path, {}), operations),
};
/** A folder in which much is written reports no more often. */
const REPORT_INTERVAL_MS = 10;

let watch: FileWatcher | undefined;
let watched = '';
let isReporting = false;

parentPort?.on('message', async ({ id, question }: { id: number; question: FileThreadRequest }) => {
  parentPort?.postMessage({ id, answer: await handleRequest(question) });
});

async function handleRequest(question: FileThreadRequest): Promise<unknown> {
  if (question.kind === 'look') return compareFiles(question.snapshot, question.waitMs);
  if (question.kind === 'steady') return isConsistent(question.read, manifestFiles, question.previous, question.times);
  if (question.kind === 'texts') return readFiles(question.paths);
  return watchSnapshot(question.seen);
}

async function compareFiles(seen: FileSnapshot, waitMs: number): Promise<FileChanges> {
  const endMs = performance.now() + waitMs;
  runOperation(operations, () => watch?.refresh());
  const modificationTimes = await waitUntilSettled(seen, manifestFiles, () => performance.now() >= endMs);
  const changed = changesSince(seen, manifestFiles);
  return {
    modificationTimes,
    changed,
    manifestHash: changed.includes(path) ? hashManifest(manifestFiles) : seen.manifestHash,
  };
}

function readFiles(paths: readonly string[]): Map<string, FileContent> {
  let characters = 0;
  const read = (name: string): FileContent => {
    try {
      if (characters > MAX_ALL_CHARACTERS) throw fileSizeError();
      const text = manifestFiles.environment.readFile(name);
      characters += text.length;
      return { text, hash: sha256(text) };
    } catch (error) {
      return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
    }
  };
  return new Map(paths.map((name) => [name, read(name)]));
}

function watchSnapshot(seen: FileSnapshot): void {
  const { files, folders } = pathsToWatch(seen, manifestFiles);
  const all = [...files, '', ...folders].join('\0');
  if (all === watched) return;
  watched = all;
  runOperation(operations, () => {
    if (watch === undefined) watch = watchFiles(files, reportChange, folders, (code) => post({ kind: 'watch', code }));
    else watch.watch(files, folders);
  });
}

function reportChange(): void {
  if (isReporting) return;
  isReporting = true;
  setTimeout(() => {
    isReporting = false;
    post({ kind: 'change' });
  }, REPORT_INTERVAL_MS);
}

function post(event: FileWatchEvent): void {
  parentPort?.postMessage({ event });
}
