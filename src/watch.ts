import { basename, dirname, resolve } from 'node:path';
import { watch } from 'chokidar';

export interface Watch {
  close(): Promise<void>;
}

/**
 * Watches files through their folders, since a rename replaces a file itself.
 *
 * @param tell hears of every change, of a fault of the watch, and once that it stands: what was saved before was told of to nobody
 * @param folders in which whatever comes or goes is told of as well
 */
export function watchFiles(paths: readonly string[], tell: () => void, folders: readonly string[] = []): Watch {
  const files = paths.map((path) => resolve(path));
  const whole = new Set(folders.map((path) => resolve(path)));
  const watched = new Set([...files, ...files.map((path) => dirname(path)), ...whole]);
  // Kubernetes swaps a link beside the files, so a change of any name beside them may be a change of them.
  const ignored = (path: string) =>
    !watched.has(resolve(path)) && !whole.has(dirname(resolve(path))) && basename(path) !== '..data';
  const roots = [...new Set([...files.map((path) => dirname(path)), ...whole])];
  const watcher = watch(roots, { depth: 0, ignoreInitial: true, ignored });
  watcher.on('all', tell).on('error', tell).on('ready', tell);
  return { close: () => watcher.close() };
}
