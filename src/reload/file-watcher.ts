import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

export interface FileWatcher {
  /** Watches these instead; see `watchFiles`. A folder that stays is watched without a gap. */
  watch(paths: readonly string[], folders: readonly string[]): void;
  /** Watches what is there now: folders may have come, and links may lead elsewhere. */
  refresh(): void;
  close(): void;
}

/** Kubernetes swaps this link beside the files, so a change of it may be a change of them. */
const KUBERNETES_DATA_LINK = '..data';

/** The names in a folder that matter; `undefined`: all of them. */
type RelevantNames = ReadonlySet<string> | undefined;

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Device and inode: another folder may have come by the same path. */
  readonly identity: string;
  readonly names: RelevantNames;
  /** When it reported an error, since when it misses changes, by `performance.now()`. */
  failedMs: number | undefined;
}

/** A folder that cannot be watched is tried again after this time: setting up the watch reports a change each time. */
const RETRY_MS = 60_000;

/**
 * Watches files through their folders, since a rename replaces a file itself.
 *
 * @param report is called on every change and every error of the watch, and once a watch is set up: an earlier change had no listener
 * @param folders in which any name that comes or goes is reported
 * @param onError is called with the code when files cannot be watched, as at the limits of inotify, and with `undefined` once they are again
 */
export function watchFiles(
  paths: readonly string[],
  report: () => void,
  folders: readonly string[] = [],
  onError: (code: string | undefined) => void = () => undefined,
): FileWatcher {
  const watch = new FolderWatcher(report, onError);
  watch.watch(paths, folders);
  return watch;
}

class FolderWatcher implements FileWatcher {
  #wanted: () => ReadonlyMap<string, RelevantNames> = () => new Map();
  readonly #report: () => void;
  readonly #onError: (code: string | undefined) => void;
  readonly #all = new Map<string, WatchedFolder>();
  /** By folder, until a later watch of the folder works. */
  readonly #errors = new Map<string, string>();
  /** The error that was reported last; `null` before the first report. */
  #error: string | undefined | null = null;

  constructor(report: () => void, onError: (code: string | undefined) => void) {
    this.#report = report;
    this.#onError = onError;
  }

  watch(paths: readonly string[], folders: readonly string[]): void {
    const [files, whole] = [paths.map((path) => resolve(path)), folders.map((path) => resolve(path))];
    this.#wanted = () => foldersOf(files, whole);
    this.refresh();
  }

  refresh(): void {
    const wanted = this.#wanted();
    const retriedMs = performance.now() - RETRY_MS;
    for (const [folder, { identity, names, failedMs = Number.POSITIVE_INFINITY }] of this.#all) {
      const isSame = wanted.has(folder) && isSameNames(names, wanted.get(folder));
      if (!isSame || failedMs <= retriedMs || identityOf(folder) !== identity) this.#forget(folder);
    }
    for (const folder of this.#errors.keys()) if (!wanted.has(folder)) this.#errors.delete(folder);
    for (const [folder, names] of wanted) if (!this.#all.has(folder)) this.#add(folder, names);
    this.#tellError();
  }

  close(): void {
    for (const folder of [...this.#all.keys()]) this.#forget(folder);
  }

  #add(folder: string, names: RelevantNames): void {
    const identity = identityOf(folder);
    if (identity === undefined) return;
    // The target of a link is watched by its own path, if it matters: a link may lead to a mount that hangs.
    const path = resolveLinks(folder) ?? folder;
    const ignored = (inside: string) => inside !== path && names?.has(basename(inside)) === false;
    const watcher = watch(path, { depth: 0, followSymlinks: false, ignoreInitial: true, ignored });
    const watched: WatchedFolder = { watcher, identity, names, failedMs: undefined };
    this.#all.set(folder, watched);
    watcher.on('all', this.#report);
    watcher.on('ready', () => {
      if (watched.failedMs === undefined && this.#errors.delete(folder)) this.#tellError();
      this.#report();
    });
    // Without a watch, changes are found by polling.
    watcher.on('error', (error) => {
      watched.failedMs = performance.now();
      this.#errors.set(folder, error instanceof Error && 'code' in error ? String(error.code) : String(error));
      this.#tellError();
      this.#report();
    });
  }

  #tellError(): void {
    const [error] = this.#errors.values();
    if (error !== this.#error) this.#onError(error);
    this.#error = error;
  }

  #forget(folder: string): void {
    // The folder may be gone, and its watch with it.
    this.#all
      .get(folder)
      ?.watcher.close()
      .catch(() => undefined);
    this.#all.delete(folder);
  }
}

function isSameNames(names: RelevantNames, others: RelevantNames): boolean {
  if (names === undefined || others === undefined) return names === others;
  return names.size === others.size && names.isSubsetOf(others);
}

/** Every folder to watch, as it is now, with the names in it that matter. */
function foldersOf(files: readonly string[], whole: readonly string[]): Map<string, RelevantNames> {
  const folders = new Map<string, Set<string> | undefined>();
  const add = (path: string) => {
    const [folder, name] = [dirname(path), basename(path)];
    if (identityOf(folder) === undefined) return void (folder !== path && add(folder));
    if (!folders.has(folder)) folders.set(folder, new Set([KUBERNETES_DATA_LINK]));
    folders.get(folder)?.add(name);
  };
  for (const folder of whole) {
    if (identityOf(folder) === undefined) add(folder);
    else folders.set(folder, undefined);
  }
  for (const file of files) {
    add(file);
    const behind = resolveLinks(file);
    if (behind !== undefined && behind !== file) add(behind);
  }
  return folders;
}

function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
