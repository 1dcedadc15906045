import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { joinRanges, redactRanges, type SecretRange } from '../check/lint/secret-text.ts';
import { lastIndexAtMost, lineStarts, type ParsedText, parseText } from '../engine/manifest/document.ts';
import type { Source } from '../engine/manifest/source.ts';
import type { Problem } from '../engine/problem/problem.ts';
import type { LocatedProblems } from '../process/reload/manifest-thread.ts';
import { findSecretRanges } from './secret-ranges.ts';

/** A longer file, or route, is cut. */
const MAX_FILE_LINES = 2_000;
const MAX_ROUTE_LINES = 500;
const MAX_ROUTE_LENGTH = 32_768;

type SecretProblem = Pick<Problem, 'file' | 'range'>;

/** The input of the thread that parses a manifest. */
export interface DisplayInput {
  readonly sources: readonly Source[];
  readonly problems: readonly SecretProblem[];
}

/** The offsets of a file that its display needs. The text itself has another home. */
export interface FileDisplay {
  /** As `joinRanges` returns them. */
  readonly secrets: Uint32Array;
  /** The end of the displayed lines. */
  readonly end: number;
  readonly omittedLines: number;
  /** Three numbers for each route: the number of its first line, and the start and end of the displayed text. */
  readonly routes: Uint32Array;
}

/** Finds the secrets and the routes of texts. Takes hundreds of milliseconds for a large manifest. */
export function createFileDisplays(sources: readonly Source[], problems: readonly SecretProblem[]) {
  return sources.map(({ path, text }) => {
    const parsed = parseText(text);
    const starts = lineStarts(text);
    const ofProblems = problems.filter(({ file }) => file === path).map(({ range }) => offsetsOf(range, starts));
    const next = starts[MAX_FILE_LINES];
    return {
      secrets: joinRanges([...findSecretRanges(text, parsed), ...ofProblems]),
      end: next === undefined ? text.length : text.slice(0, next).replace(/\r?\n$/, '').length,
      omittedLines: Math.max(0, starts.length - MAX_FILE_LINES),
      routes: findRoutes(parsed, text, starts),
    };
  });
}

/** Lines of a manifest, with secrets redacted. */
export interface ManifestLines {
  readonly file: string;
  /** The number of the first line. */
  readonly line: number;
  readonly text: string;
}

/** Returns the lines of a route, by its index in the merged manifest: the routes of each file follow those of the previous one. */
export function linesOfRoute(sources: readonly Source[], displays: readonly FileDisplay[], index: number) {
  let at = 3 * index;
  for (const [number, { secrets, routes }] of displays.entries()) {
    const source = sources[number];
    if (at < routes.length && source !== undefined) {
      const [line = 0, start = 0, end = 0] = routes.subarray(at, at + 3);
      const text = redactRanges(source.text, secrets, start, end).replaceAll('\r\n', '\n').trimEnd();
      return { file: source.path, line, text };
    }
    at -= routes.length;
  }
  throw new RangeError(`the texts have no route ${index}`);
}

function offsetsOf({ line, column, endLine, endColumn }: Problem['range'], starts: readonly number[]): SecretRange {
  return { start: (starts[line - 1] ?? 0) + column - 1, end: (starts[endLine - 1] ?? 0) + endColumn - 1 };
}

function findRoutes({ value, positions }: ParsedText, text: string, starts: readonly number[]): Uint32Array {
  const routes = value !== null && typeof value === 'object' && 'routes' in value ? value['routes'] : undefined;
  if (!Array.isArray(routes)) return new Uint32Array();
  const found = new Uint32Array(3 * routes.length);
  const lineAt = (offset: number) => lastIndexAtMost(starts, offset) + 1;
  for (const index of routes.keys()) {
    const path = ['routes', index];
    const start = positions.offsetsAt({ path, at: 'value' }).start;
    // A block of text ends with its line break.
    const content = text.slice(0, positions.contentEndOf(positions.find(path, 'follow').row)).trimEnd().length;
    const line = lineAt(start);
    const lineStart = starts[line - 1] ?? 0;
    const end = (starts[Math.min(lineAt(content), line + MAX_ROUTE_LINES - 1)] ?? text.length + 1) - 1;
    // All routes of a JSON text may be in one line.
    const isLong = end - lineStart > MAX_ROUTE_LENGTH;
    found.set(isLong ? [line, start, Math.min(content, start + MAX_ROUTE_LENGTH)] : [line, lineStart, end], 3 * index);
  }
  return found;
}

/** The longest time to parse a manifest. */
const TIMEOUT_MS = 60_000;

/** Parses manifests for display in a thread, one after the other, when they are displayed for the first time: most never are. */
export class ManifestDisplays {
  readonly #displays = new WeakMap<readonly Source[], Promise<readonly FileDisplay[]>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects if the manifest cannot be parsed in the time limit. The next call tries again. */
  of({ sources, problems }: LocatedProblems): Promise<readonly FileDisplay[]> {
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
