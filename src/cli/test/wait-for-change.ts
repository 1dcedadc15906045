import { readText } from '../../engine/manifest/source.ts';
import { watchFiles } from '../../process/reload/file-watcher.ts';

/** Editors save in several steps. Changes within this time belong to one save. */
const SETTLE_MS = 50;
/** Polling finds a change that happened while the watch was starting. */
const POLL_MS = 1_000;

/** Resolves when a file no longer has its last text, `undefined` if it was missing, or `stop` is aborted. */
export function waitForChange(files: ReadonlyMap<string, string | undefined>, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      clearInterval(poll);
      stop.removeEventListener('abort', finish);
      watch.close();
      resolve();
    };
    const check = () => {
      if ([...files].some(([path, text]) => currentText(path) !== text)) finish();
    };
    const watch = watchFiles([...files.keys()], () => {
      clearTimeout(timer);
      timer = setTimeout(check, SETTLE_MS);
    });
    const poll = setInterval(check, POLL_MS);
    stop.addEventListener('abort', finish);
  });
}

function currentText(path: string): string | undefined {
  try {
    return readText(path);
  } catch {
    return undefined;
  }
}
