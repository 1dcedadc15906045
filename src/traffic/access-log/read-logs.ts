import { getOrCreate } from '../../engine/get-or-create.ts';
import { type LogCounts, type LoggedRequest, parseLogLine, type SkippedLine } from './logged-request.ts';
import { LineSplitter, type LogInput, type ReadProgress, readBytes } from './read-bytes.ts';

/** The requests of logs in batches, since a promise for each line would take longer than its parsing. */
export interface LogReader extends AsyncIterable<LoggedRequest[]> {
  /** Counts of the lines so far. They are complete after the last batch. */
  readonly counts: Readonly<LogCounts>;
}

/** Reads logs one after the other, a batch at a time, and counts other lines. An unreadable log is a failure in the counts. */
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

async function* readLog(input: LogInput, counts: LogCounts, onBytes: (bytes: number) => void) {
  const splitter = new LineSplitter();
  let lines = 0;
  let requests: LoggedRequest[] = [];
  const add = (line: string | undefined) => {
    lines += 1;
    counts.lines += 1;
    const parsed = line === undefined ? TOO_LONG : parseLogLine(line, input.name, lines);
    if ('line' in parsed) {
      counts.requests += 1;
      requests.push(parsed);
    } else countSkipped(counts, parsed, input.name, lines);
  };
  function* takeRequests() {
    if (requests.length > 0) yield requests;
    requests = [];
  }
  try {
    for await (const chunk of readBytes(input, onBytes)) {
      splitter.push(chunk, add);
      yield* takeRequests();
    }
  } catch (error) {
    counts.failures.push({ source: input.name, lines, message: describeFailure(error) });
  }
  splitter.end(add);
  yield* takeRequests();
}

const TOO_LONG: SkippedLine = { reason: 'too-long' };

function countSkipped({ skipped }: LogCounts, { reason, member }: SkippedLine, source: string, line: number): void {
  getOrCreate(skipped, reason, () => ({ lines: 0, source, line, member })).lines += 1;
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
