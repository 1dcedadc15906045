import { finished, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { type LogCounts, type LoggedRequest, parseLogLine, type SkippedLine } from './logged-request.ts';

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
  const splitter = createLineSplitter(add);
  function* takeRequests() {
    if (requests.length > 0) yield requests;
    requests = [];
  }
  try {
    for await (const chunk of readBytes(input, onBytes)) {
      splitter.push(chunk);
      yield* takeRequests();
    }
  } catch (error) {
    counts.failures.push({ source: input.name, lines, message: describeFailure(error) });
  }
  splitter.end();
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

export interface LogInput {
  /** The name in reports. */
  readonly name: string;
  /** Opens the log. It is called once, when the logs before it have been read. */
  open(): Readable;
  /** The size; `undefined` if it is not known, as that of a pipe. */
  readonly bytes?: number | undefined;
}

/** The bytes read so far. A compressed log counts by its compressed size. */
export interface ReadProgress {
  readonly bytes: number;
  /** `undefined` if the size of a log is not known. */
  readonly totalBytes: number | undefined;
}

/** Yields the bytes of a log, decompressed if it begins like gzip. */
async function* readBytes(input: LogInput, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const source = input.open();
  const chunks = countBytes(source, onBytes);
  try {
    const start = await readStart(chunks);
    // Gzip begins with these bytes (RFC 1952 section 2.3.1).
    if (start[0] !== 0x1f || start[1] !== 0x8b) {
      yield start;
      yield* chunks;
      return;
    }
    const gunzip = createGunzip({ chunkSize: DECOMPRESSED_CHUNK_BYTES });
    // The loop below throws the error of the pipeline.
    pipeline(prepend(start, chunks), gunzip, () => undefined);
    yield* gunzip;
  } finally {
    source.destroy();
    // Without a listener, an error after the end of the iteration would end the process.
    finished(source, () => undefined);
  }
}

const DECOMPRESSED_CHUNK_BYTES = 65_536;

async function* countBytes(source: Readable, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** Reads until the first bytes show the format. */
async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let start: Buffer = EMPTY;
  while (start.length < 2) {
    const { done, value } = await chunks.next();
    if (done) break;
    start = start.length === 0 ? value : Buffer.concat([start, value]);
  }
  return start;
}

async function* prepend(start: Buffer, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* chunks;
}

/** The gateway limits the head of a request to a quarter of this, so a longer line is no line of an access log. */
const MAX_LINE_BYTES = 65_536;

const NEWLINE = 0x0a;

/** Splits chunks of bytes into lines. Keeps at most one incomplete line. `onLine` gets `undefined` for a line that is too long. */
function createLineSplitter(onLine: (line: string | undefined) => void) {
  /** The start of a line; `undefined` if it is too long. */
  let line: Buffer | undefined = EMPTY;
  const keep = (bytes: Buffer) => {
    if (line === undefined || line.length + bytes.length > MAX_LINE_BYTES) line = undefined;
    else line = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
  };
  return {
    push: (chunk: Buffer) => {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        keep(chunk.subarray(start, end));
        onLine(line?.toString());
        line = EMPTY;
        start = end + 1;
      }
      keep(chunk.subarray(start));
    },
    /** Ends the last line if it has no newline. */
    end: () => {
      if (line?.length !== 0) onLine(line?.toString());
    },
  };
}

const EMPTY = Buffer.alloc(0);
