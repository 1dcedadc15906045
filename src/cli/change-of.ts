import { readFileSync } from 'node:fs';
import { watchFiles } from '../watch.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
const SETTLE_MS = 50;

/** Resolves when one of the files holds something else, or `stop` is aborted. */
export function changeOf(files: readonly string[], stop: AbortSignal): Promise<void> {
  const seen = textOf(files);
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      void watch.close().then(resolve);
    };
    const look = () => {
      if (textOf(files) !== seen) end();
    };
    const watch = watchFiles(files, () => {
      clearTimeout(timer);
      timer = setTimeout(look, SETTLE_MS);
    });
    stop.addEventListener('abort', end);
  });
}

function textOf(files: readonly string[]): string {
  return JSON.stringify(files.map(readText));
}

/** A file that is gone may come back. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
