import pino, { type Logger } from 'pino';

/** The most bytes that wait to be written to one stream. Beyond this limit, lines are lost. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The time limit for a stalled reader at the end of the process. */
const STALLED_READER_MS = 1_000;
/** The minimum time between two reports of failing writes. */
const REPORT_INTERVAL_MS = 60_000;

/** Writes blocks of lines to a file descriptor. A full disk or a closed pipe may lose lines, but never fails a request. */
export class LineOutput {
  /** Lines that were lost. */
  droppedLines = 0;
  readonly #stream: ReturnType<typeof pino.destination>;
  readonly #queue = new WriteQueue();
  #isEnded = false;
  /** Set when the process ends: the waiting bytes, and the time of the last progress. */
  #ending: { bytes: number; sinceMs: number } | undefined;
  #error: string | undefined;
  #errors = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  /** Takes a file descriptor or a path. Reports the code of an error when writes begin to fail, at most once a minute. */
  constructor(destination: number | string, reportFailure: (code: string) => void) {
    this.#stream = pino.destination({
      dest: destination,
      sync: false,
      contentMode: 'buffer',
      retryEAGAIN: (_error, blockBytes, otherBytes) => this.#isRetried(blockBytes + otherBytes),
    });
    this.#stream.on('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'unknown';
      const isNew = this.#error !== code && performance.now() - this.#reportedMs > REPORT_INTERVAL_MS;
      this.#errors += 1;
      this.#error = code;
      if (!isNew) return;
      this.#reportedMs = performance.now();
      reportFailure(code);
    });
    this.#stream.on('write', (bytes: number) => {
      this.#error = undefined;
      this.#queue.remove(bytes);
    });
  }

  get status() {
    return {
      droppedLines: this.droppedLines,
      // Bytes that are not yet written.
      waitingBytes: this.#queue.bytes,
      // The error code of the last write, `EAGAIN` while the reader has stalled; `undefined` while writes succeed.
      error: this.#error,
      // Failed writes. The lines stay buffered for the next write.
      errors: this.#errors,
    };
  }

  /** @param onWritten called once none of the bytes wait to be written */
  write(bytes: Uint8Array, onWritten?: () => void): void {
    const isFull = this.#queue.bytes + bytes.length > MAX_WAITING_BYTES;
    // The limit is here and not in the stream, so that every lost line is counted.
    if (isFull) this.droppedLines += countLines(bytes);
    if (isFull || this.#isEnded || bytes.length === 0) onWritten?.();
    else {
      this.#queue.add(bytes.length, onWritten);
      this.#stream.write(bytes as unknown as string);
    }
  }

  /** Writes all lines synchronously before the process exits. If the reader has stalled, they are lost. */
  flush(): void {
    this.#ending = { bytes: Number.POSITIVE_INFINITY, sinceMs: performance.now() };
    try {
      // The stream would retry a failing write forever.
      if (this.#error === undefined || this.#error === 'EAGAIN') {
        this.#stream.flushSync();
        return;
      }
    } catch {
      // The lines are lost, as those of a failing write.
    }
    this.#isEnded = true;
    this.#stream.destroy();
  }

  /** Writes all lines and closes the stream. If the reader has stalled, they are lost. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#drained();
    // The stream would retry the remaining lines forever and delay the exit.
    this.#stream.destroy();
  }

  /** Returns false if a stalled reader has made no progress at the end of the process. */
  #isRetried(bytes: number): boolean {
    if (this.#ending === undefined) {
      this.#error = 'EAGAIN';
      return true;
    }
    if (bytes < this.#ending.bytes) this.#ending = { bytes, sinceMs: performance.now() };
    return performance.now() - this.#ending.sinceMs < STALLED_READER_MS;
  }

  /** Resolves when the stream has written all lines, fails, or makes no progress. */
  #drained(): Promise<void> {
    const stream = this.#stream;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      clearTimeout(timer);
      stream.off('write', progress).off('drain', end).off('error', end);
      resolve();
    };
    const timer = setTimeout(end, STALLED_READER_MS);
    const progress = () => timer.refresh();
    stream.on('write', progress).on('drain', end).on('error', end);
    // An empty write makes a stream without waiting lines emit `drain`.
    stream.write(Buffer.alloc(0) as unknown as string);
    return promise;
  }
}

/** The bytes that wait to be written to a stream, in order. */
class WriteQueue {
  #added = 0;
  #removed = 0;
  /** The blocks whose senders wait, with the number of all bytes up to their end. */
  readonly #blocks: { readonly end: number; readonly onWritten: () => void }[] = [];

  get bytes(): number {
    return this.#added - this.#removed;
  }

  add(bytes: number, onWritten?: () => void): void {
    this.#added += bytes;
    if (onWritten !== undefined) this.#blocks.push({ end: this.#added, onWritten });
  }

  remove(bytes: number): void {
    this.#removed += bytes;
    while (this.#blocks[0] !== undefined && this.#blocks[0].end <= this.#removed) this.#blocks.shift()?.onWritten();
  }
}

/** @param members of each line */
export function createLogger(write: (line: string) => void, members: object | null = null): Logger {
  return pino({ base: members }, { write });
}

const LINE_END = 0x0a;

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) lines += 1;
  return lines;
}
