import type { LogCounts } from './log-counts.ts';
import type { LoggedRequest } from './logged-request.ts';
import { parseLogLine } from './parse-log-line.ts';
import { type LogInput, type ReadProgress, readBytes } from './read-bytes.ts';
import type { SkippedLine } from './read-request.ts';
import { LineSplitter } from './split-lines.ts';

/** The requests of logs in batches, since a promise for each line would take longer than its parsing. */
export interface LogReader extends AsyncIterable<LoggedRequest[]> {
  /** Counts of the lines so far. They are complete after the last batch. */
  readonly counts: Readonly<LogCounts>;
}

/**
 * Reads logs one after the other and yields their requests. Never keeps more than one batch. Counts all other lines. A log that
 * cannot be read to its end is a failure in the counts, and the next log follows.
 */
export function readLogs(inputs: readonly LogInput[], onProgress?: (progress: ReadProgress) => void): LogReader {
  const counts: LogCounts = { lines: 0, requests: 0, skipped: new Map(), failures: [] };
  const totalBytes = totalOf(inputs);
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    onProgress?.({ bytes, totalBytes });
  };
  return {
    counts,
    async *[Symbol.asyncIterator]() {
      for (const input of inputs) yield* readLog(input, counts, count);
    },
  };
}

function totalOf(inputs: readonly LogInput[]): number | undefined {
  const sizes = inputs.map(({ bytes }) => bytes);
  return sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
}

async function* readLog(
  input: LogInput,
  counts: LogCounts,
  onBytes: (bytes: number) => void,
): AsyncGenerator<LoggedRequest[]> {
  const lines = new LogLines(input.name, counts);
  const splitter = new LineSplitter();
  const add = (line: string | undefined) => lines.add(line);
  try {
    for await (const chunk of readBytes(input, onBytes)) {
      splitter.push(chunk, add);
      if (lines.hasRequests) yield lines.takeRequests();
    }
  } catch (error) {
    counts.failures.push({ source: input.name, lines: lines.count, message: describeFailure(error) });
  }
  splitter.end(add);
  if (lines.hasRequests) yield lines.takeRequests();
}

/** The lines of one log. */
class LogLines {
  count = 0;
  #requests: LoggedRequest[] = [];
  readonly #source: string;
  readonly #counts: LogCounts;

  constructor(source: string, counts: LogCounts) {
    this.#source = source;
    this.#counts = counts;
  }

  /** @param line `undefined` if it is too long */
  add(line: string | undefined): void {
    this.count += 1;
    this.#counts.lines += 1;
    const parsed =
      line === undefined
        ? ({ reason: 'too-long' } satisfies SkippedLine)
        : parseLogLine(line, this.#source, this.count);
    if ('line' in parsed) {
      this.#counts.requests += 1;
      this.#requests.push(parsed);
    } else this.#skip(parsed);
  }

  #skip({ reason, member }: SkippedLine): void {
    const skipped = this.#counts.skipped.get(reason);
    if (skipped !== undefined) skipped.lines += 1;
    else this.#counts.skipped.set(reason, { lines: 1, source: this.#source, line: this.count, member });
  }

  get hasRequests(): boolean {
    return this.#requests.length > 0;
  }

  takeRequests(): LoggedRequest[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }
}

/** The codes of `zlib` for data that ends early. */
const TRUNCATED_CODES: readonly unknown[] = ['Z_BUF_ERROR', 'ERR_STREAM_PREMATURE_CLOSE'];

function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (TRUNCATED_CODES.includes(code)) return 'the compressed data ends early; copy the file again';
  if (code?.startsWith('Z_')) return 'the compressed data is damaged; copy the file again';
  if (code === 'EISDIR') return 'this is a folder; name the files in it';
  return `cannot be read: ${code ?? 'unknown error'}`;
}
