import { parentPort, workerData } from 'node:worker_threads';
import { fileSizeError, sha256 } from '../../engine/manifest/dependencies.ts';
import { createSecretReader } from '../../engine/manifest/secret-file.ts';
import { createFileEnvironment, fileErrorCode, MAX_ALL_CHARACTERS } from '../../engine/manifest/source.ts';
import { bypassThreadPool } from '../../engine/node-internals/file-functions.ts';
import { type ChannelPort, ThreadChannel } from '../workers/thread-channel.ts';
import {
  changesSince,
  type FileSnapshot,
  hashManifest,
  isConsistent,
  type ManifestFiles,
  pathsToWatch,
  waitUntilSettled,
} from './file-snapshot.ts';
import type { FileChanges, FileContent, FileEvents, FileRequests, FileThreadOptions } from './file-thread.ts';
import { type FileWatcher, watchFiles } from './file-watcher.ts';
import { countOperations, runOperation } from './operation-counter.ts';
import type { WorkerInput } from './worker-thread.ts';

/** The input of this thread, which `file-thread.ts` starts. */
const { path, secretsFolder, operations } = workerData as WorkerInput<FileThreadOptions>;
bypassThreadPool((operation) => runOperation(operations, operation));
const manifestFiles: ManifestFiles = {
  path,
  environment: countOperations(createFileEnvironment(path, {}, {}, createSecretReader(secretsFolder)), operations),
};
/** A folder with many writes causes at most one event in this time. */
const REPORT_INTERVAL_MS = 10;

const channel = new ThreadChannel<FileEvents, FileRequests>(parentPort as ChannelPort);
let watcher: FileWatcher | undefined;
let watchedPaths = '';
let isReporting = false;

channel.handle('compare', compareFiles);
channel.handle('checkConsistency', ({ read, previous, times }) => isConsistent(read, manifestFiles, previous, times));
channel.handle('read', readFiles);
channel.handle('watch', watchSnapshot);

async function compareFiles({ snapshot, waitMs }: FileRequests['compare']['value']): Promise<FileChanges> {
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
      watcher = watchFiles(files, reportChange, folders, (code) => channel.notify('watchError', code));
    else watcher.watch(files, folders);
  });
}

function reportChange(): void {
  if (isReporting) return;
  isReporting = true;
  setTimeout(() => {
    isReporting = false;
    channel.notify('changed', undefined);
  }, REPORT_INTERVAL_MS);
}
