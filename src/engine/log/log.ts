import pino, { type Logger } from 'pino';
import { DroppedLines, FLUSH_MS, LineBlocks, linesOf, MAX_WAITING_BYTES, WriteQueue } from './line-blocks.ts';

export interface Log {
  readonly logger: Logger;
  /** Writes a formatted JSON line to the same destination as the logger. */
  writeLine(json: string): void;
  /** Writes the buffered lines synchronously before the process exits. If the reader has stalled, the lines are lost. */
  flush(): void;
  /**
   * Writes complete lines of another thread, after those that wait to be written. Without this method each line is written on its own.
   *
   * @param onWritten called once none of the bytes wait to be written
   */
  writeBlock?(bytes: Uint8Array, onWritten: () => void): void;
  /** Counts lines that another thread has lost. */
  countDropped?(lines: number): void;
}

/** The log of a process, which writes to a stream that can fail. */
export interface ProcessLog extends Required<Log> {
  status(): LogStatus;
  /** Writes the buffered lines in order and closes the log. If the reader has stalled, the lines are lost. */
  end(): Promise<void>;
}

export interface LogStatus {
  /** Lines that were lost because too many waited to be written. */
  readonly droppedLines: number;
  /** Bytes that are not yet written. */
  readonly waitingBytes: number;
  /** The error code of the last write, `EAGAIN` while the reader has stalled; `undefined` while writes succeed. */
  readonly error: string | undefined;
  /** Failed writes. The lines stay buffered for the next write, up to the limit on waiting bytes. */
  readonly errors: number;
}

/** The time limit for a stalled reader at the end of the process. */
const STALLED_READER_MS = 1_000;
/** The minimum time between two reports of failing writes. */
const REPORT_INTERVAL_MS = 60_000;

/**
 * Creates the log of a process, which writes JSON lines to a file descriptor.
 *
 * @param destination a file descriptor, or a path
 * @param format formats a line for a terminal
 * @param reportFailure receives the error code when writes begin to fail, at most once a minute
 */
export function createProcessLog(
  destination: number | string,
  format?: (json: string) => string,
  reportFailure: (code: string) => void = () => undefined,
): ProcessLog {
  // Set when the process ends: the waiting bytes, and the time of the last progress.
  let ending: { bytes: number; sinceMs: number } | undefined;
  let failure: string | undefined;
  let errors = 0;
  let isEnded = false;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const setFailure = (code: string | undefined) => {
    failure = code;
  };
  const stream = pino.destination({
    dest: destination,
    sync: false,
    contentMode: 'buffer',
    retryEAGAIN: (_error, blockBytes, otherBytes) => {
      if (ending === undefined) {
        setFailure('EAGAIN');
        return true;
      }
      const bytes = blockBytes + otherBytes;
      if (bytes < ending.bytes) ending = { bytes, sinceMs: performance.now() };
      return performance.now() - ending.sinceMs < STALLED_READER_MS;
    },
  });
  const queue = new WriteQueue();
  const dropped = new DroppedLines();
  // A full disk or a closed pipe may lose lines, but must not fail requests.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    const code = error.code ?? 'unknown';
    const isNew = failure !== code && performance.now() - reportedMs > REPORT_INTERVAL_MS;
    errors += 1;
    setFailure(code);
    if (!isNew) return;
    reportedMs = performance.now();
    reportFailure(code);
  });
  stream.on('write', (bytes: number) => {
    setFailure(undefined);
    queue.remove(bytes);
  });
  const writeBytes = (bytes: Uint8Array, onWritten?: () => void) => {
    // The limit is here and not in the stream, so that every lost line is counted.
    if (queue.bytes + bytes.length > MAX_WAITING_BYTES) {
      dropped.add(bytes);
      return onWritten?.();
    }
    queue.add(bytes.length, onWritten);
    stream.write(bytes as unknown as string);
  };
  const blocks = new LineBlocks(writeBytes);
  const write = (text: string) => {
    if (!isEnded) blocks.write(text);
  };
  const logger = createLogger(format === undefined ? write : (line) => write(`${format(line)}\n`));
  const reportDropped = () => {
    // Wait until the buffer has room, or the report would be lost as well.
    if (queue.bytes > MAX_WAITING_BYTES / 2) return;
    const count = dropped.takeUnreportedCount();
    if (count > 0)
      logger.warn({ count }, 'log lines were lost, because they could not be written or were not read in time');
  };
  const flushPeriodically = () => {
    reportDropped();
    blocks.flush();
  };
  setInterval(flushPeriodically, FLUSH_MS).unref();
  const writeLine =
    format === undefined ? (json: string) => write(`${json}\n`) : (json: string) => write(`${format(json)}\n`);
  return {
    logger,
    writeLine,
    writeBlock: (bytes, onWritten) => {
      if (isEnded || bytes.length === 0) return onWritten();
      if (format === undefined) return writeBytes(bytes, onWritten);
      for (const line of linesOf(bytes)) writeLine(line);
      onWritten();
    },
    countDropped: (lines) => dropped.count(lines),
    flush: () => {
      ending = { bytes: Number.POSITIVE_INFINITY, sinceMs: performance.now() };
      try {
        blocks.flush();
        // The stream would retry a failing write forever.
        if (failure === undefined || failure === 'EAGAIN') stream.flushSync();
        else stream.destroy();
      } catch {
        // The lines are lost; destroying the stream prevents further attempts.
        stream.destroy();
      }
    },
    end: async () => {
      blocks.flush();
      isEnded = true;
      await waitUntilDrained(stream);
      // The stream would retry the remaining lines forever and delay the exit.
      stream.destroy();
    },
    status: () => ({ droppedLines: dropped.total, waitingBytes: queue.bytes, error: failure, errors }),
  };
}

/** @param members of each line */
function createLogger(write: (line: string) => void, members: object | null = null): Logger {
  return pino({ base: members }, { write });
}

type Stream = ReturnType<typeof pino.destination>;

/** Resolves when a stream has written all lines, fails, or makes no progress. */
function waitUntilDrained(stream: Stream): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stream.off('write', progress).off('drain', end).off('error', end);
      resolve();
    };
    let timer = setTimeout(end, STALLED_READER_MS);
    const progress = () => {
      clearTimeout(timer);
      timer = setTimeout(end, STALLED_READER_MS);
    };
    stream.on('write', progress).on('drain', end).on('error', end);
    // An empty write makes a stream without waiting lines emit `drain`.
    stream.write(Buffer.alloc(0) as unknown as string);
  });
}

/** Returns a log that discards all lines. */
export function createNullLog(): Log {
  return { logger: pino({ enabled: false }), writeLine: () => undefined, flush: () => undefined };
}

/** A message to the thread that writes the log. */
export interface LogBlock {
  /** Complete lines; empty if only lost lines are reported. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Lines that were lost since the previous block, because too many bytes were not yet written. */
  readonly droppedLines: number;
}

/** The log of a thread whose lines another thread writes. */
export interface ForwardedLog extends Log {
  /** Called when the other thread has written or lost bytes of this log. */
  release(bytes: number): void;
}

/** Returns the log of one of several workers. The line of each logger call has the index of the worker. */
export function createForwardedLog(
  { index, count }: { readonly index: number; readonly count: number },
  send: (block: LogBlock) => void,
): ForwardedLog {
  // A worker that logs too much must not use the room of the others.
  const limit = MAX_WAITING_BYTES / count;
  const dropped = new DroppedLines();
  let reported = 0;
  let waitingBytes = 0;
  const sendBlock = (bytes: Uint8Array<ArrayBuffer>) => {
    waitingBytes += bytes.length;
    const droppedLines = dropped.total - reported;
    reported = dropped.total;
    send({ bytes, droppedLines });
  };
  const blocks = new LineBlocks((bytes) =>
    waitingBytes + bytes.length > limit ? dropped.add(bytes) : sendBlock(bytes),
  );
  const flush = () => {
    blocks.flush();
    if (dropped.total > reported) sendBlock(new Uint8Array());
  };
  setInterval(flush, FLUSH_MS).unref();
  return {
    logger: createLogger((line) => blocks.write(line), { worker: index }),
    writeLine: (json) => blocks.write(`${json}\n`),
    flush,
    release: (bytes) => {
      waitingBytes -= bytes;
    },
  };
}

/** Writes a block of another thread. @param onWritten called once none of its bytes wait to be written */
export function writeForwardedBlock(log: Log, { bytes, droppedLines }: LogBlock, onWritten: () => void): void {
  if (droppedLines > 0) log.countDropped?.(droppedLines);
  if (log.writeBlock === undefined) {
    for (const line of linesOf(bytes)) log.writeLine(line);
    onWritten();
  } else log.writeBlock(bytes, onWritten);
}

/** The minimum time between two log lines. */
const INTERVAL_MS = 60_000;

/** Counts events of one kind and logs them: the first one at once, later ones in one line per minute. */
export class ThrottledWarning {
  readonly #logger: Log['logger'];
  readonly #message: string;
  readonly #intervalMs: number;
  #total = 0;
  #unreported = 0;
  #details: object = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Log['logger'], message: string, intervalMs = INTERVAL_MS) {
    this.#logger = logger;
    this.#message = message;
    this.#intervalMs = intervalMs;
  }

  /** The number of events since the process started. */
  get total(): number {
    return this.#total;
  }

  /** @param details members of the log line; the latest ones are logged */
  add(details: object = {}): void {
    this.#total += 1;
    this.#unreported += 1;
    this.#details = details;
    if (this.#timer === undefined) this.#report();
  }

  #report(): void {
    this.#timer = undefined;
    if (this.#unreported === 0) return;
    this.#logger.warn({ count: this.#unreported, ...this.#details }, this.#message);
    this.#unreported = 0;
    this.#timer = setTimeout(() => this.#report(), this.#intervalMs).unref();
  }
}
