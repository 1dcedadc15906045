import type { Logger } from 'pino';
import { countLines, FLUSH_MS, LineBlocks, linesOf, MAX_WAITING_BYTES } from './line-blocks.ts';
import { createLogger, createNullLogger, LineOutput } from './line-output.ts';

export interface Log {
  readonly logger: Logger;
  /** Writes a formatted JSON line to the same destination as the logger. */
  writeLine(json: string): void;
  /** Writes the buffered lines synchronously before the process exits. If the reader has stalled, the lines are lost. */
  flush(): void;
  /** Writes complete lines of another thread after those that wait. Without this method each line is written on its own. */
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

/** The minimum time between two log lines about lost lines. */
const REPORT_INTERVAL_MS = 60_000;

/** Creates the log of a process: JSON lines, or those of `format`. Reports the code of an error when writes begin to fail. */
export function createProcessLog(
  destination: number | string,
  format?: (json: string) => string,
  reportFailure: (code: string) => void = () => undefined,
): ProcessLog {
  const output = new LineOutput(destination, reportFailure);
  const blocks = new LineBlocks((bytes) => output.write(bytes));
  let reportedLines = 0;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const writeLine = (json: string) => blocks.write(`${format === undefined ? json : format(json)}\n`);
  const logger = createLogger((line) => writeLine(line.slice(0, -1)));
  const reportDropped = () => {
    const count = output.droppedLines - reportedLines;
    if (count === 0 || performance.now() - reportedMs < REPORT_INTERVAL_MS) return;
    // Wait until the buffer has room, or the report would be lost as well.
    if (output.status.waitingBytes > MAX_WAITING_BYTES / 2) return;
    reportedLines += count;
    reportedMs = performance.now();
    logger.warn({ count }, 'log lines were lost, because they could not be written or were not read in time');
  };
  const sendPeriodically = () => {
    reportDropped();
    blocks.flush();
  };
  setInterval(sendPeriodically, FLUSH_MS).unref();
  return {
    logger,
    writeLine,
    writeBlock: (bytes, onWritten) => {
      if (format === undefined) return output.write(bytes, onWritten);
      for (const line of linesOf(bytes)) writeLine(line);
      onWritten();
    },
    countDropped: (lines) => {
      output.droppedLines += lines;
    },
    flush: () => {
      blocks.flush();
      output.flush();
    },
    end: () => {
      blocks.flush();
      return output.end();
    },
    status: () => output.status,
  };
}

/** Returns a log that discards all lines. */
export function createNullLog(): Log {
  return { logger: createNullLogger(), writeLine: () => undefined, flush: () => undefined };
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
  let droppedLines = 0;
  let waitingBytes = 0;
  const sendBlock = (bytes: Uint8Array<ArrayBuffer>) => {
    waitingBytes += bytes.length;
    send({ bytes, droppedLines });
    droppedLines = 0;
  };
  const blocks = new LineBlocks((bytes) => {
    if (waitingBytes + bytes.length > limit) droppedLines += countLines(bytes);
    else sendBlock(bytes);
  });
  const flush = () => {
    blocks.flush();
    if (droppedLines > 0) sendBlock(new Uint8Array());
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
  /** The number of events since the process started. */
  total = 0;
  readonly #logger: Log['logger'];
  readonly #message: string;
  readonly #intervalMs: number;
  #unreported = 0;
  #details: object = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Log['logger'], message: string, intervalMs = INTERVAL_MS) {
    this.#logger = logger;
    this.#message = message;
    this.#intervalMs = intervalMs;
  }

  /** @param details members of the log line; the latest ones are logged */
  add(details: object = {}): void {
    this.total += 1;
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
