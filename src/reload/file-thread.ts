import type { FileSnapshot } from './file-snapshot.ts';
import { WorkerThread } from './worker-thread.ts';

/** The text of a file and its SHA-256 in hex, or the code of why it cannot be read. */
export type FileContent = { readonly text: string; readonly hash: string } | { readonly code: string };

/** The files as they are now, compared with what was seen before. */
export interface FileChanges {
  /** When each file was written last. */
  readonly modificationTimes: string;
  /** The files and patterns that changed. */
  readonly changed: readonly string[];
  /** SHA-256 of the manifest's own text in hex; empty when it cannot be read. */
  readonly manifestHash: string;
}

/** Something changed; or files cannot be watched, or can be again where there is no code. */
export type FileWatchEvent =
  | { readonly kind: 'change' }
  | { readonly kind: 'watch'; readonly code: string | undefined };

export type FileThreadRequest =
  | { readonly kind: 'look'; readonly snapshot: FileSnapshot; readonly waitMs: number }
  | { readonly kind: 'steady'; readonly read: FileSnapshot; readonly previous: FileSnapshot; readonly times: string }
  | { readonly kind: 'texts'; readonly paths: readonly string[] }
  | { readonly kind: 'follow'; readonly seen: FileSnapshot };

/** As long as all files of a large manifest may take on a slow mount. */
const TIMEOUT_MS = 120_000;

/** The thread that reads, compares and watches the files of a manifest for as long as the gateway serves. */
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
   * Compares all files with what was seen, once nothing was written for a while: half a file may well be a manifest.
   *
   * @param waitMs how long to wait for that at most
   */
  compare(snapshot: FileSnapshot, waitMs: number): Promise<FileChanges> {
    return this.#thread.request({ kind: 'look', snapshot, waitMs });
  }

  /**
   * True if all that was read is still there, so that it was there at one time.
   *
   * @param previous what was seen earlier, when the files had been written last at these `times`
   */
  isConsistent(read: FileSnapshot, previous: FileSnapshot, times: string): Promise<boolean> {
    return this.#thread.request({ kind: 'steady', read, previous, times });
  }

  readFiles(paths: readonly string[]): Promise<ReadonlyMap<string, FileContent>> {
    return this.#thread.request({ kind: 'texts', paths });
  }

  /** Watches what was seen, and nothing else. */
  watch(seen: FileSnapshot): Promise<void> {
    return this.#thread.request({ kind: 'follow', seen });
  }

  close(): Promise<void> {
    return this.#thread.stop();
  }
}
