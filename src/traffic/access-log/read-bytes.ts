import { finished, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

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
export async function* readBytes(input: LogInput, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
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

/** Receives a line, or `undefined` for one that is too long. */
type LineListener = (line: string | undefined) => void;

/** Splits chunks of bytes into lines. Keeps at most one incomplete line of at most 64 KB. */
export class LineSplitter {
  /** The start of a line; `undefined` if it is too long. */
  #start: Buffer | undefined = EMPTY;

  push(chunk: Buffer, onLine: LineListener): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      onLine(this.#start?.toString());
      this.#start = EMPTY;
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Ends the last line if it has no newline. */
  end(onLine: LineListener): void {
    if (this.#start?.length !== 0) onLine(this.#start?.toString());
  }

  #keep(bytes: Buffer): void {
    const start = this.#start;
    if (start === undefined || start.length + bytes.length > MAX_LINE_BYTES) this.#start = undefined;
    else this.#start = start.length === 0 ? bytes : Buffer.concat([start, bytes]);
  }
}

const EMPTY = Buffer.alloc(0);
