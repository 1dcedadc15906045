import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Source } from '../engine/manifest/source.ts';
import type { Problem } from '../engine/problem/problem.ts';
import type { DisplayInput } from './display-worker.ts';
import type { FileDisplay } from './manifest-display.ts';

/** The longest time to parse a manifest. */
const TIMEOUT_MS = 60_000;

/** The texts of a manifest with their problems: of the active one, or of a rejected one. */
interface DisplayedManifest {
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
}

/**
 * Parses manifests for display in a thread, so that a large one delays no request. Each is parsed when it is displayed for the first
 * time, one after the other: most manifests are never displayed.
 */
export class ManifestDisplays {
  readonly #displays = new WeakMap<readonly Source[], Promise<readonly FileDisplay[]>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects if the manifest cannot be parsed in the time limit. The next call tries again. */
  of({ sources, problems }: DisplayedManifest): Promise<readonly FileDisplay[]> {
    const known = this.#displays.get(sources);
    if (known !== undefined) return known;
    const secrets = problems.filter(({ isSecret }) => isSecret).map(({ file, range }) => ({ file, range }));
    const displays = this.#last.then(() => parseInThread({ sources, problems: secrets }));
    this.#displays.set(sources, displays);
    this.#last = displays.catch(() => this.#displays.delete(sources));
    return displays;
  }
}

async function parseInThread(workerData: DisplayInput): Promise<readonly FileDisplay[]> {
  // The extension of this file: the sources run as .ts, the package as .js.
  const url = new URL(`./display-worker${extname(import.meta.url)}`, import.meta.url);
  // The YAML parser reads an environment variable for each token, which takes a sixth of its time.
  const worker = new Worker(url, { name: 'display-worker', workerData, execArgv: [], env: {} });
  worker.unref();
  try {
    const [displays] = await once(worker, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return displays;
  } finally {
    void worker.terminate();
  }
}
