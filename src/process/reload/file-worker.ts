import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { attempt } from '../../engine/attempt.ts';
import { type Dependencies, expandGlob, globFolders, sha256 } from '../../engine/manifest/dependencies.ts';
import { createFileEnvironment, type Environment } from '../../engine/manifest/source.ts';
import { bypassThreadPool } from '../../engine/node-internals/built-in-modules.ts';
import { type ChannelPort, ThreadChannel } from '../workers/thread-channel.ts';
import {
  type FileChanges,
  type FileEvents,
  type FileRequests,
  type FileSnapshot,
  type FileThreadOptions,
  SETTLE_MS,
} from './file-thread.ts';
import { FileWatcher } from './file-watcher.ts';
import { countOperations, runOperation } from './operation-counter.ts';
import type { WorkerInput } from './worker-thread.ts';

/** The input of this thread, which `file-thread.ts` starts. */
const { path, secretsFolder, operations } = workerData as WorkerInput<FileThreadOptions>;
bypassThreadPool((operation) => runOperation(operations, operation));
const environment = countOperations(createFileEnvironment(path, {}, {}, secretsFolder), operations);
/** A folder with many writes causes at most one event in this time. */
const REPORT_INTERVAL_MS = 10;

const channel = new ThreadChannel<FileEvents, FileRequests>(parentPort as ChannelPort);
const watcher = new FileWatcher(reportChange, (code) => channel.notify('watchError', code));
let isReporting = false;

channel.handle('compare', compareFiles);
channel.handle('checkConsistency', ({ read, previous, times }) => {
  return modificationTimesOf(previous).text === times && changesSince(read).changed.length === 0;
});
channel.handle('watch', (snapshot) => {
  const { files, folders } = pathsToWatch(snapshot);
  runOperation(operations, () => watcher.watch(files, folders));
});

async function compareFiles({ snapshot, waitMs }: FileRequests['compare']['value']): Promise<FileChanges> {
  const endMs = performance.now() + waitMs;
  runOperation(operations, () => watcher.refresh());
  const modificationTimes = await waitUntilSettled(snapshot, endMs);
  return { modificationTimes, ...changesSince(snapshot) };
}

/** Returns the files and patterns that have changed since the snapshot, and the hash of the manifest's own text. */
function changesSince(snapshot: FileSnapshot): Pick<FileChanges, 'changed' | 'manifestHash'> {
  const manifestHash = hashOf(resolve(path), environment.readFile);
  const changed = changedDependencies(snapshot.dependencies);
  return { manifestHash, changed: manifestHash === snapshot.manifestHash ? changed : [path, ...changed] };
}

/** Returns the files whose content changed, and the patterns whose matches changed. */
function changedDependencies({ files, globs, secretFiles }: Dependencies): string[] {
  const { readFile, readSecret = readFile } = environment;
  const changedFiles = [...files].filter(([path, hash]) => hashOf(path, readFile) !== hash);
  const changedSecrets = [...secretFiles].filter(([path, hash]) => hashOf(path, readSecret) !== hash);
  const changedGlobs = [...globs].filter(([pattern, paths]) => expandGlob(pattern, environment).join('\n') !== paths);
  return [...changedFiles, ...changedGlobs, ...changedSecrets].map(([name]) => name);
}

function hashOf(path: string, readFile: Environment['readFile']): string {
  return attempt(() => sha256(readFile(path))) ?? '';
}

/** Returns the files to watch, and the folders in which a new file may match a pattern. */
function pathsToWatch({ dependencies: { files, secretFiles, globs } }: FileSnapshot) {
  const inFolder = (name: string) => resolve(dirname(resolve(path)), name);
  const folders = new Set([...globs.keys()].flatMap((pattern) => globFolders(pattern, environment)));
  return {
    files: [resolve(path), ...[...files.keys(), ...secretFiles.keys()].map(inFolder)],
    folders: [...folders].map(inFolder),
  };
}

/** Returns the modification times of all files, as one text to compare, and the latest of them. */
function modificationTimesOf(snapshot: FileSnapshot) {
  const times = pathsToWatch(snapshot).files.map(environment.modifiedMs);
  return { text: times.join(), latestMs: Math.max(...times) };
}

/** Waits until no file was written for `SETTLE_MS`, or until `endMs`: half a file may be valid. Returns all modification times. */
async function waitUntilSettled(snapshot: FileSnapshot, endMs: number): Promise<string> {
  for (;;) {
    const { text, latestMs } = modificationTimesOf(snapshot);
    const age = Date.now() - latestMs;
    // A negative age means that the clock was set back; waiting for it could take hours.
    if (age < 0 || age >= SETTLE_MS || performance.now() >= endMs) return text;
    await pause(SETTLE_MS - age);
  }
}

function reportChange(): void {
  if (isReporting) return;
  isReporting = true;
  setTimeout(() => {
    isReporting = false;
    channel.notify('changed', undefined);
  }, REPORT_INTERVAL_MS);
}
