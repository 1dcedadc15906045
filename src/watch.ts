import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

export interface Watch {
  /** The code of the error that keeps files from being watched, `EMFILE` or `ENOSPC` at the limits of inotify. */
  readonly error: string | undefined;
  close(): Promise<void>;
}

/** After an error files are not watched for so long; then it is tried again. */
const RETRY_MS = 60_000;

/**
 * Watches files through their folders, since a rename replaces a file itself.
 *
 * @param tell hears of every change, of an error, and once that the watch stands: what was saved before was told of to nobody
 * @param folders in which whatever comes or goes is told of as well
 * @param onError is called with the error's code when files are not watched
 */
export function watchFiles(
  paths: readonly string[],
  tell: () => void,
  folders: readonly string[] = [],
  onError: (code: string) => void = () => undefined,
): Watch {
  const files = paths.map((path) => resolve(path));
  const whole = new Set(folders.map((path) => resolve(path)));
  const watched = new Set([...files, ...files.map((path) => dirname(path)), ...whole]);
  // Kubernetes swaps a link beside the files, so a change of any name beside them may be a change of them.
  const ignored = (path: string) =>
    !watched.has(resolve(path)) && !whole.has(dirname(resolve(path))) && basename(path) !== '..data';
  const roots = [...new Set([...files.map((path) => dirname(path)), ...whole])];
  return new RetriedWatch(() => watch(roots, { depth: 0, ignoreInitial: true, ignored }), tell, onError);
}

class RetriedWatch implements Watch {
  error: string | undefined;
  readonly #open: () => FSWatcher;
  readonly #tell: () => void;
  readonly #onError: (code: string) => void;
  #watcher: FSWatcher;
  #retry: NodeJS.Timeout | undefined;

  constructor(open: () => FSWatcher, tell: () => void, onError: (code: string) => void) {
    this.#open = open;
    this.#tell = tell;
    this.#onError = onError;
    this.#watcher = this.#begin();
  }

  close(): Promise<void> {
    clearTimeout(this.#retry);
    return this.#watcher.close();
  }

  #begin(): FSWatcher {
    const watcher = this.#open();
    let hasFailed = false;
    watcher.on('all', this.#tell);
    watcher.on('ready', () => {
      if (!hasFailed) this.error = undefined;
      this.#tell();
    });
    watcher.on('error', (error) => {
      if (!hasFailed) this.#fail(error, watcher);
      hasFailed = true;
    });
    return watcher;
  }

  #fail(error: unknown, watcher: FSWatcher): void {
    this.error = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    this.#onError(this.error);
    this.#tell();
    void watcher.close();
    this.#retry = setTimeout(() => {
      this.#watcher = this.#begin();
    }, RETRY_MS).unref();
  }
}
