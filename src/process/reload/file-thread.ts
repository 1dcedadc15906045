import type { Dependencies } from '../../engine/manifest/dependencies.ts';
import type { Requests, ThreadChannel } from '../workers/thread-channel.ts';
import { WorkerThread } from './worker-thread.ts';

/** Editors write a file in several steps. Steps less than this apart count as one save. */
export const SETTLE_MS = 50;

/** The hashes of the manifest and of the files and patterns that it names, at one time. */
export interface FileSnapshot {
  /** SHA-256 of the manifest's own text in hex; empty if it cannot be read. */
  readonly manifestHash: string;
  readonly dependencies: Dependencies;
}

/** The difference between a snapshot and the files on disk. */
export interface FileChanges {
  /** The modification times of all files, as one text. */
  readonly modificationTimes: string;
  /** The files and patterns that changed. */
  readonly changed: readonly string[];
  /** SHA-256 of the manifest's own text in hex; empty if it cannot be read. */
  readonly manifestHash: string;
}

/** The requests that the thread handles. */
export type FileRequests = {
  /** Compares all files with a snapshot, after they have settled: half a file may be a valid manifest. */
  readonly compare: {
    /** `waitMs`: the longest time to wait until the files settle. */
    readonly value: { readonly snapshot: FileSnapshot; readonly waitMs: number };
    readonly result: FileChanges;
  };
  /** Returns true if no file changed while a reload read the files, so that the plan never mixes two saves. */
  readonly checkConsistency: {
    /** `previous`: the files of the previous reload. `times`: their modification times when this reload started. */
    readonly value: { readonly read: FileSnapshot; readonly previous: FileSnapshot; readonly times: string };
    readonly result: boolean;
  };
  /** Watches the files of a snapshot instead of those watched before. */
  readonly watch: { readonly value: FileSnapshot; readonly result: unknown };
};

/** The notices of the thread. */
export type FileEvents = {
  /** A file has changed. */
  readonly changed: { readonly value: undefined; readonly result: unknown };
  /** The files cannot be watched, for the reason of this error code, or can be watched again: `undefined`. */
  readonly watchError: { readonly value: string | undefined; readonly result: unknown };
};

/** The thread that reads, compares and watches the files of a manifest while the gateway runs. */
export type FileThread = WorkerThread<FileRequests, FileEvents>;

/** Enough for all files of a large manifest on a slow mount. */
const TIMEOUT_MS = 120_000;

/** The data that the thread starts with. */
export interface FileThreadOptions {
  readonly path: string;
  /** The folder of the files that `${file:PATH}` may name; `undefined`: their values are unknown. */
  readonly secretsFolder: string | undefined;
}

export function createFileThread(
  data: FileThreadOptions,
  listen: (channel: ThreadChannel<Requests, FileEvents>) => void,
): FileThread {
  const task = 'watches and reads the files';
  return new WorkerThread({ file: 'file-worker', task, data, timeoutMs: TIMEOUT_MS, isSteady: true, listen });
}
