import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

export interface Watch {
  /** Watches what is there now: folders may have come, and links may lead elsewhere. */
  renew(): void;
  close(): void;
}

/** Kubernetes swaps this link beside the files, so a change of it may be a change of them. */
const SWAPPED = '..data';

/** The names in a folder that matter; `undefined`: all of them. */
type Names = ReadonlySet<string> | undefined;

interface Watched {
  readonly watcher: FSWatcher;
  /** Device and inode: another folder may have come by the same path. */
  readonly identity: string;
  names: Names;
}

/**
 * Watches files through their folders, since a rename replaces a file itself. The system is asked on this thread: the
 * threads that Node has for files serve requests too, and a mount that hangs would take all of them.
 *
 * @param report is called on every change and every fault of the watch, and once at the beginning: an earlier change had no listener
 * @param folders in which any name that comes or goes is reported
 * @param onError is called with the code when files cannot be watched, as at the limits of inotify, and with `undefined` once they are again
 */
export function watchFiles(
  paths: readonly string[],
  report: () => void,
  folders: readonly string[] = [],
  onError: (code: string | undefined) => void = () => undefined,
): Watch {
  const wanted = () =>
    foldersOf(
      paths.map((path) => resolve(path)),
      folders.map((path) => resolve(path)),
    );
  const watch = new FolderWatch(wanted, report, onError);
  watch.renew();
  const first = setImmediate(report);
  return {
    renew: () => watch.renew(),
    close: () => {
      clearImmediate(first);
      watch.close();
    },
  };
}

class FolderWatch implements Watch {
  readonly #wanted: () => ReadonlyMap<string, Names>;
  readonly #report: () => void;
  readonly #onError: (code: string | undefined) => void;
  readonly #all = new Map<string, Watched>();
  #error: string | undefined;

  constructor(
    wanted: () => ReadonlyMap<string, Names>,
    report: () => void,
    onError: (code: string | undefined) => void,
  ) {
    this.#wanted = wanted;
    this.#report = report;
    this.#onError = onError;
  }

  renew(): void {
    const wanted = this.#wanted();
    for (const [folder, { identity }] of this.#all)
      if (!wanted.has(folder) || identityOf(folder) !== identity) this.#forget(folder);
    let error: string | undefined;
    for (const [folder, names] of wanted) {
      const known = this.#all.get(folder);
      if (known === undefined) error = this.#add(folder, names) ?? error;
      else known.names = names;
    }
    if (error !== this.#error) this.#onError(error);
    this.#error = error;
  }

  close(): void {
    for (const folder of [...this.#all.keys()]) this.#forget(folder);
  }

  /** Returns the code of an error: without a watch, changes are found by polling, and the next look tries again. */
  #add(folder: string, names: Names): string | undefined {
    try {
      const identity = identityOf(folder);
      if (identity === undefined) return undefined;
      const watcher = watch(folder, (_event, name) => this.#hear(folder, name));
      watcher.on('error', () => {
        this.#forget(folder);
        this.#report();
      });
      this.#all.set(folder, { watcher, identity, names });
      return undefined;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }

  #hear(folder: string, name: string | null): void {
    const names = this.#all.get(folder)?.names;
    // A folder reports its own end under its own name.
    if (name === null || names === undefined || names.has(name) || name === basename(folder)) this.#report();
  }

  #forget(folder: string): void {
    this.#all.get(folder)?.watcher.close();
    this.#all.delete(folder);
  }
}

/** Every folder to watch, as it is now, with the names in it that matter. */
function foldersOf(files: readonly string[], whole: readonly string[]): Map<string, Names> {
  const folders = new Map<string, Set<string> | undefined>();
  const add = (path: string) => {
    const [folder, name] = [dirname(path), basename(path)];
    if (identityOf(folder) === undefined) return void (folder !== path && add(folder));
    if (!folders.has(folder)) folders.set(folder, new Set([SWAPPED]));
    folders.get(folder)?.add(name);
  };
  for (const folder of whole) {
    if (identityOf(folder) === undefined) add(folder);
    else folders.set(folder, undefined);
  }
  for (const file of files) {
    add(file);
    const behind = behindLinks(file);
    if (behind !== undefined && behind !== file) add(behind);
  }
  return folders;
}

function behindLinks(path: string): string | undefined {
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
