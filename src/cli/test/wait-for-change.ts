import { readBytes } from '../../manifest/file-environment.ts';
import { watchFiles } from '../../reload/file-watcher.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
const SETTLE_MS = 50;
/** A change in the moment in which the watch begins may be told by nobody; this finds it. */
const POLL_MS = 1_000;

/**
 * Resolves when one of the files holds something else, or `stop` is aborted.
 *
 * @param files what was read from each, by its path; `undefined`: it was not there
 */
export function waitForChange(files: ReadonlyMap<string, string | undefined>, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      clearInterval(poll);
      stop.removeEventListener('abort', end);
      watch.close();
      resolve();
    };
    const look = () => {
      if ([...files].some(([path, text]) => readText(path) !== text)) end();
    };
    const watch = watchFiles([...files.keys()], () => {
      clearTimeout(timer);
      timer = setTimeout(look, SETTLE_MS);
    });
    const poll = setInterval(look, POLL_MS);
    stop.addEventListener('abort', end);
  });
}

function readText(path: string): string | undefined {
  try {
    return readBytes(path).toString('utf8');
  } catch {
    return undefined;
  }
}
