import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

/** Kubernetes updates mounted files by swapping this link beside them. */
const KUBERNETES_DATA_LINK = '..data';

/** The watched names in a folder; `undefined`: all of them. */
type RelevantNames = ReadonlySet<string> | undefined;

/** The time between attempts to watch after an error. Each attempt reports a change. */
const RETRY_MS = 60_000;

/**
 * Watches files through their folders, because a rename replaces the file. Calls `onChange` also when a watch is set up or fails, and for
 * every name created or removed in `folders`; calls `onError` with a code when files cannot be watched, with `undefined` when they can.
 */
export class FileWatcher {
  readonly #onChange: () => void;
  readonly #onError: (code: string | undefined) => void;
  /** Returns the folders to watch, as the file system is now. */
  #findFolders: () => ReadonlyMap<string, RelevantNames> = () => new Map();
  #watcher: FSWatcher | undefined;
  /** The folders that are watched, with their names and identities, as one text. */
  #watched = '';
  /** When a watch failed, by `performance.now()`. It misses changes since then. */
  #failedMs = Number.POSITIVE_INFINITY;
  /** The error that was reported last; `null` before the first report. */
  #reportedError: string | undefined | null = null;

  constructor(onChange: () => void, onError: (code: string | undefined) => void = () => undefined) {
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /** Watches these files, and all names in these folders, instead of those before. */
  watch(paths: readonly string[], folders: readonly string[]): void {
    const [files, watchedFolders] = [paths.map((path) => resolve(path)), folders.map((path) => resolve(path))];
    this.#findFolders = () => foldersOf(files, watchedFolders);
    this.refresh();
  }

  /** Resolves the watched paths again: a folder may have been created or replaced, and a link may have another target. */
  refresh(): void {
    const folders = this.#findFolders();
    const wanted = Array.from(folders, ([path, names]) => `${path} ${identityOf(path)} ${[...(names ?? '*')].sort()}`)
      .sort()
      .join('\n');
    if (wanted === this.#watched && performance.now() < this.#failedMs + RETRY_MS) return;
    this.close();
    this.#watched = wanted;
    if (folders.size > 0) this.#start(folders);
  }

  close(): void {
    // Closing fails if a folder was deleted.
    this.#watcher?.close().catch(() => undefined);
    this.#watcher = undefined;
  }

  #start(folders: ReadonlyMap<string, RelevantNames>): void {
    const ignored = (path: string) => !folders.has(path) && folders.get(dirname(path))?.has(basename(path)) === false;
    // Do not follow links: one may lead to a mount that hangs. `foldersOf` adds the folder behind a link.
    const watcher = watch([...folders.keys()], { depth: 0, followSymlinks: false, ignoreInitial: true, ignored });
    this.#watcher = watcher;
    this.#failedMs = Number.POSITIVE_INFINITY;
    watcher.on('all', this.#onChange);
    watcher.on('ready', () => {
      if (this.#failedMs === Number.POSITIVE_INFINITY) this.#reportError(undefined);
      this.#onChange();
    });
    watcher.on('error', (error) => {
      this.#failedMs = performance.now();
      this.#reportError(error instanceof Error && 'code' in error ? String(error.code) : String(error));
      this.#onChange();
    });
  }

  #reportError(error: string | undefined): void {
    if (error !== this.#reportedError) this.#onError(error);
    this.#reportedError = error;
  }
}

/** Returns the existing folders to watch, by paths without links, with the watched names in each. */
function foldersOf(files: readonly string[], watchedFolders: readonly string[]): Map<string, RelevantNames> {
  const folders = new Map<string, Set<string> | undefined>();
  const add = (path: string) => {
    const [folder, name] = [realFolder(dirname(path)), basename(path)];
    // The folder does not exist yet, so watch its parent.
    if (identityOf(folder) === undefined) return void (folder !== path && add(folder));
    if (!folders.has(folder)) folders.set(folder, new Set([KUBERNETES_DATA_LINK]));
    folders.get(folder)?.add(name);
  };
  for (const folder of watchedFolders) {
    if (identityOf(folder) === undefined) add(folder);
    else folders.set(realFolder(folder), undefined);
  }
  for (const file of files) {
    add(file);
    const target = resolveLinks(file);
    if (target !== undefined && target !== file) add(target);
  }
  return folders;
}

function realFolder(path: string): string {
  return resolveLinks(path) ?? path;
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
