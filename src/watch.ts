import { basename, dirname, resolve } from 'node:path';
import { watch } from 'chokidar';

export interface Watch {
  close(): Promise<void>;
}

/**
 * Watches files through their folders, since a rename replaces a file itself.
 *
 * @param tell hears of every change, of a fault of the watch, and once that it stands: what was saved before was told of to nobody
 */
export function watchFiles(paths: readonly string[], tell: () => void): Watch {
  const files = paths.map((path) => resolve(path));
  const folders = files.map((path) => dirname(path));
  const watched = new Set([...files, ...folders]);
  // Kubernetes swaps a link beside the files, so a change of any name beside them may be a change of them.
  const ignored = (path: string) => !watched.has(resolve(path)) && basename(path) !== '..data';
  const watcher = watch([...new Set(folders)], { depth: 0, ignoreInitial: true, ignored });
  watcher.on('all', tell).on('error', tell).on('ready', tell);
  return { close: () => watcher.close() };
}
