import type { FileSnapshot } from './file-snapshot.ts';
import { WorkerThread } from './worker-thread.ts';

/** The text of a file and its SHA-256 in hex, or the error code if it cannot be read. */
export type FileContent = { readonly text: string; readonly hash: string } | { readonly code: string };

/** The difference between a snapshot and the files on disk. */
export interface FileChanges {
  /** The modification times of all files, as one text. */
  readonly modificationTimes: string;
  /** The files and patterns that changed. */
  readonly changed: readonly string[];
  /** SHA-256 of the manifest's own text in hex; empty if it cannot be read. */
  readonly manifestHash: string;
}

/** `change`: a file changed. `watch`: the files cannot be watched or, if `code` is undefined, can be watched again. */
export type FileWatchEvent =
  | { readonly kind: 'change' }
  | { readonly kind: 'watch'; readonly code: string | undefined };

export type FileThreadRequest =
  | { readonly kind: 'compare'; readonly snapshot: FileSnapshot; readonly waitMs: number }
  | {
      readonly kind: 'check-consistency';
      readonly read: FileSnapshot;
      readonly previous: FileSnapshot;
      readonly times: string;
    }
  | { readonly kind: 'read'; readonly paths: readonly string[] }
  | { readonly kind: 'watch'; readonly snapshot: FileSnapshot };

/** Enough for all files of a large manifest on a slow mount. */
const TIMEOUT_MS = 120_000;

/** The thread that reads, compares and watches the files of a manifest while the gateway runs. */
export class FileThread {
  readonly #thread: WorkerThread<FileThreadRequest>;

  constructor(path: string, report: (event: FileWatchEvent) => void) {
    const onEvent = (event: unknown) => report(event as FileWatchEvent);
    this.#thread = new WorkerThread({ file: 'file-worker', data: { path }, timeoutMs: TIMEOUT_MS, onEvent });
  }

  get hungCount(): number {
    return this.#thread.hungCount;
  }

  get isBlocked(): boolean {
    return this.#thread.isBlocked;
  }

  /**
   * Compares all files with a snapshot, after they have settled: half a file may be a valid manifest.
   *
   * @param waitMs the longest time to wait until the files settle
   */
  compare(snapshot: FileSnapshot, waitMs: number): Promise<FileChanges> {
    return this.#thread.request({ kind: 'compare', snapshot, waitMs });
  }

  /**
   * Resolves to true if no file changed while this reload read the files, so that the plan never mixes two saves.
   *
   * @param previous the files of the previous reload
   * @param times the modification times of these files when this reload started
   */
  isConsistent(read: FileSnapshot, previous: FileSnapshot, times: string): Promise<boolean> {
    return this.#thread.request({ kind: 'check-consistency', read, previous, times });
  }

  readFiles(paths: readonly string[]): Promise<ReadonlyMap<string, FileContent>> {
    return this.#thread.request({ kind: 'read', paths });
  }

  /** Watches the files of a snapshot instead of those watched before. */
  watch(snapshot: FileSnapshot): Promise<void> {
    return this.#thread.request({ kind: 'watch', snapshot });
  }

  close(): Promise<void> {
    return this.#thread.stop();
  }
}

/** Reads the files that a plan is compiled from. */
export type FileReader = Pick<FileThread, 'readFiles'>;
