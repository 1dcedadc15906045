import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

export type FileWatcher = ReturnType<typeof watchFiles>;

/** Kubernetes updates mounted files by swapping this link beside them. */
const KUBERNETES_DATA_LINK = '..data';

/** The watched names in a folder; `undefined`: all of them. */
type RelevantNames = ReadonlySet<string> | undefined;

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Device, inode and time of creation, to notice that another folder has replaced this one. */
  readonly identity: string;
  readonly names: RelevantNames;
  /** When the watch failed, by `performance.now()`. It misses changes since then. */
  failedMs: number | undefined;
}

/** The time between attempts to watch a folder after an error. Each attempt reports a change. */
const RETRY_MS = 60_000;

/**
 * Watches files through their folders, because a rename replaces the file. Calls `onChange` also when a watch is set up or fails, and for
 * every name created or removed in `folders`; calls `onError` with a code when files cannot be watched, with `undefined` when they can.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  folders: readonly string[] = [],
  onError: (code: string | undefined) => void = () => undefined,
) {
  const watcher = new FolderWatcher(onChange, onError);
  watcher.watch(paths, folders);
  return watcher;
}

class FolderWatcher {
  /** Returns the folders to watch, as the file system is now. */
  #findFolders: () => ReadonlyMap<string, RelevantNames> = () => new Map();
  readonly #onChange: () => void;
  readonly #onError: (code: string | undefined) => void;
  readonly #watched = new Map<string, WatchedFolder>();
  /** Error codes by folder, until a later watch of the folder works. */
  readonly #errors = new Map<string, string>();
  /** The error that was reported last; `null` before the first report. */
  #reportedError: string | undefined | null = null;

  constructor(onChange: () => void, onError: (code: string | undefined) => void) {
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /** Watches these paths instead; see `watchFiles`. A folder in both sets is watched without a gap. */
  watch(paths: readonly string[], folders: readonly string[]): void {
    const [files, watchedFolders] = [paths.map((path) => resolve(path)), folders.map((path) => resolve(path))];
    this.#findFolders = () => foldersOf(files, watchedFolders);
    this.refresh();
  }

  /** Resolves the watched paths again: a folder may have been created, and a link may have another target. */
  refresh(): void {
    const wanted = this.#findFolders();
    const retryMs = performance.now() - RETRY_MS;
    for (const [folder, { identity, names, failedMs = Number.POSITIVE_INFINITY }] of this.#watched) {
      const isSame = wanted.has(folder) && isSameNames(names, wanted.get(folder));
      if (!isSame || failedMs <= retryMs || identityOf(folder) !== identity) this.#unwatch(folder);
    }
    for (const folder of this.#errors.keys()) if (!wanted.has(folder)) this.#errors.delete(folder);
    for (const [folder, names] of wanted) if (!this.#watched.has(folder)) this.#add(folder, names);
    this.#reportError();
  }

  close(): void {
    for (const folder of [...this.#watched.keys()]) this.#unwatch(folder);
  }

  #add(folder: string, names: RelevantNames): void {
    const identity = identityOf(folder);
    if (identity === undefined) return;
    // Do not follow links: one may lead to a mount that hangs. `foldersOf` adds the folder behind a link.
    const path = resolveLinks(folder) ?? folder;
    const ignored = (inside: string) => inside !== path && names?.has(basename(inside)) === false;
    const watcher = watch(path, { depth: 0, followSymlinks: false, ignoreInitial: true, ignored });
    const watched: WatchedFolder = { watcher, identity, names, failedMs: undefined };
    this.#watched.set(folder, watched);
    watcher.on('all', this.#onChange);
    watcher.on('ready', () => {
      if (watched.failedMs === undefined && this.#errors.delete(folder)) this.#reportError();
      this.#onChange();
    });
    watcher.on('error', (error) => {
      watched.failedMs = performance.now();
      this.#errors.set(folder, error instanceof Error && 'code' in error ? String(error.code) : String(error));
      this.#reportError();
      this.#onChange();
    });
  }

  #reportError(): void {
    const [error] = this.#errors.values();
    if (error !== this.#reportedError) this.#onError(error);
    this.#reportedError = error;
  }

  #unwatch(folder: string): void {
    // Closing fails if the folder was deleted.
    this.#watched
      .get(folder)
      ?.watcher.close()
      .catch(() => undefined);
    this.#watched.delete(folder);
  }
}

function isSameNames(names: RelevantNames, others: RelevantNames): boolean {
  if (names === undefined || others === undefined) return names === others;
  return names.size === others.size && names.isSubsetOf(others);
}

/** Returns the existing folders to watch, with the watched names in each. */
function foldersOf(files: readonly string[], watchedFolders: readonly string[]): Map<string, RelevantNames> {
  const folders = new Map<string, Set<string> | undefined>();
  const add = (path: string) => {
    const [folder, name] = [dirname(path), basename(path)];
    // The folder does not exist yet, so watch its parent.
    if (identityOf(folder) === undefined) return void (folder !== path && add(folder));
    if (!folders.has(folder)) folders.set(folder, new Set([KUBERNETES_DATA_LINK]));
    folders.get(folder)?.add(name);
  };
  for (const folder of watchedFolders) {
    if (identityOf(folder) === undefined) add(folder);
    else folders.set(folder, undefined);
  }
  for (const file of files) {
    add(file);
    const target = resolveLinks(file);
    if (target !== undefined && target !== file) add(target);
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
    // A folder that is deleted and created again often has the same inode.
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev}:${ino}:${birthtimeMs}`;
  } catch {
    return undefined;
  }
}
