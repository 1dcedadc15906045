import type { Seen } from './seen.ts';
import { Thread } from './thread.ts';

/** The text of a file and its SHA-256 in hex, or the code of why it cannot be read. */
export type FileText = { readonly text: string; readonly hash: string } | { readonly code: string };

/** The files as they are now, compared with what was seen before. */
export interface Look {
  /** When each file was written last. */
  readonly times: string;
  /** The files and patterns that changed. */
  readonly changed: readonly string[];
  /** SHA-256 of the manifest's own text in hex; empty when it cannot be read. */
  readonly own: string;
}

/** Something changed; or files cannot be watched, or can be again where there is no code. */
export type FileEvent = { readonly kind: 'change' } | { readonly kind: 'watch'; readonly code: string | undefined };

export type Question =
  | { readonly ask: 'look'; readonly seen: Seen; readonly waitMs: number }
  | { readonly ask: 'steady'; readonly read: Seen; readonly before: Seen; readonly times: string }
  | { readonly ask: 'texts'; readonly paths: readonly string[] }
  | { readonly ask: 'follow'; readonly seen: Seen };

/** As long as all files of a large manifest may take on a slow mount. */
const MAX_MS = 120_000;

/** The thread that reads, compares and watches the files of a manifest for as long as the gateway serves. */
export class FileThread {
  readonly #thread: Thread<Question>;

  constructor(path: string, report: (event: FileEvent) => void) {
    const onEvent = (event: unknown) => report(event as FileEvent);
    this.#thread = new Thread({ file: 'file-worker', data: { path }, maxMs: MAX_MS, onEvent });
  }

  get hungCount(): number {
    return this.#thread.hungCount;
  }

  get isInOperation(): boolean {
    return this.#thread.isInOperation;
  }

  /**
   * Compares all files with what was seen, once nothing was written for a while: half a file may well be a manifest.
   *
   * @param waitMs how long to wait for that at most
   */
  look(seen: Seen, waitMs: number): Promise<Look> {
    return this.#thread.ask({ ask: 'look', seen, waitMs });
  }

  /**
   * True if all that was read is still there, so that it was there at one time.
   *
   * @param before what was seen earlier, when the files had been written last at these `times`
   */
  isSteady(read: Seen, before: Seen, times: string): Promise<boolean> {
    return this.#thread.ask({ ask: 'steady', read, before, times });
  }

  texts(paths: readonly string[]): Promise<ReadonlyMap<string, FileText>> {
    return this.#thread.ask({ ask: 'texts', paths });
  }

  /** Watches what was seen, and nothing else. */
  follow(seen: Seen): Promise<void> {
    return this.#thread.ask({ ask: 'follow', seen });
  }

  close(): Promise<void> {
    return this.#thread.end();
  }
}
