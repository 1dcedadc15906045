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
 */
export function watchFiles(paths: readonly string[], report: () => void, folders: readonly string[] = []): Watch {
  const files = paths.map((path) => resolve(path));
  const whole = folders.map((path) => resolve(path));
  const all = new Map<string, Watched>();
  const renew = () => {
    const wanted = foldersOf(files, whole);
    for (const [folder, { watcher, identity }] of all) {
      if (wanted.has(folder) && identityOf(folder) === identity) continue;
      watcher.close();
      all.delete(folder);
    }
    for (const [folder, names] of wanted) {
      const known =
        all.get(folder) ??
        watchFolder(
          folder,
          (name) => {
            const { names: relevant } = all.get(folder) ?? {};
            // A folder reports its own end under its own name.
            if (name === null || relevant === undefined || relevant.has(name) || name === basename(folder)) report();
          },
          () => {
            all.get(folder)?.watcher.close();
            all.delete(folder);
            report();
          },
        );
      if (known === undefined) continue;
      known.names = names;
      all.set(folder, known);
    }
  };
  renew();
  const first = setImmediate(report);
  return {
    renew,
    close: () => {
      clearImmediate(first);
      for (const { watcher } of all.values()) watcher.close();
      all.clear();
    },
  };
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

function watchFolder(folder: string, hear: (name: string | null) => void, fail: () => void): Watched | undefined {
  const identity = identityOf(folder);
  if (identity === undefined) return undefined;
  try {
    const watcher = watch(folder, (_event, name) => hear(name));
    watcher.on('error', fail);
    return { watcher, identity, names: undefined };
  } catch {
    // Without watches, as where the system has no more of them, changes are found by looking.
    return undefined;
  }
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
