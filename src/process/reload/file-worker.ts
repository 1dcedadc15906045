import { parentPort, workerData } from 'node:worker_threads';
import { fileSizeError, sha256 } from '../../engine/manifest/dependencies.ts';
import { createFileEnvironment, fileErrorCode, MAX_ALL_CHARACTERS } from '../../engine/manifest/source.ts';
import {
  changesSince,
  type FileSnapshot,
  hashManifest,
  isConsistent,
  type ManifestFiles,
  pathsToWatch,
  waitUntilSettled,
} from './file-snapshot.ts';
import type { FileChanges, FileContent, FileThreadRequest, FileWatchEvent } from './file-thread.ts';
import { type FileWatcher, watchFiles } from './file-watcher.ts';
import { bypassThreadPool, countOperations, runOperation } from './operation-counter.ts';
import type { WorkerInput, WorkerMessage, WorkerRequest } from './worker-thread.ts';

/** The input of this thread, which `file-thread.ts` starts. */
const { path, operations } = workerData as WorkerInput<{ readonly path: string }>;
bypassThreadPool(operations);
const manifestFiles: ManifestFiles = {
  path,
  environment: countOperations(createFileEnvironment(path, {}), operations),
};
/** A folder with many writes causes at most one event in this time. */
const REPORT_INTERVAL_MS = 10;

let watcher: FileWatcher | undefined;
let watchedPaths = '';
let isReporting = false;

parentPort?.on('message', async ({ id, request }: WorkerRequest<FileThreadRequest>) => {
  parentPort?.postMessage({ id, response: await handleRequest(request) } satisfies WorkerMessage);
});

async function handleRequest(request: FileThreadRequest): Promise<unknown> {
  switch (request.kind) {
    case 'compare':
      return compareFiles(request.snapshot, request.waitMs);
    case 'check-consistency':
      return isConsistent(request.read, manifestFiles, request.previous, request.times);
    case 'read':
      return readFiles(request.paths);
    case 'watch':
      return watchSnapshot(request.snapshot);
  }
}

async function compareFiles(snapshot: FileSnapshot, waitMs: number): Promise<FileChanges> {
  const endMs = performance.now() + waitMs;
  runOperation(operations, () => watcher?.refresh());
  const modificationTimes = await waitUntilSettled(snapshot, manifestFiles, () => performance.now() >= endMs);
  const changed = changesSince(snapshot, manifestFiles);
  return {
    modificationTimes,
    changed,
    manifestHash: changed.includes(path) ? hashManifest(manifestFiles) : snapshot.manifestHash,
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
      return { code: fileErrorCode(error) };
    }
  };
  return new Map(paths.map((name) => [name, read(name)]));
}

function watchSnapshot(snapshot: FileSnapshot): void {
  const { files, folders } = pathsToWatch(snapshot, manifestFiles);
  const paths = [...files, '', ...folders].join('\0');
  if (paths === watchedPaths) return;
  watchedPaths = paths;
  runOperation(operations, () => {
    if (watcher === undefined)
      watcher = watchFiles(files, reportChange, folders, (code) => post({ kind: 'watch', code }));
    else watcher.watch(files, folders);
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
  parentPort?.postMessage({ event } satisfies WorkerMessage);
}
