import pino, { type Logger } from 'pino';
import { DroppedLines } from './dropped-lines.ts';

export interface Log {
  readonly logger: Logger;
  /** Writes a formatted JSON line to the same destination as the logger. */
  writeLine(json: string): void;
  /** Writes the buffered lines synchronously before the process exits. If the reader has stalled, the lines are lost. */
  flush(): void;
}

/** The log of a process, which writes to a stream that can fail. */
export interface ProcessLog extends Log {
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

/** The log writes lines in blocks: one write for each line would cost a tenth of the throughput. */
const BLOCK_BYTES = 65_536;
const FLUSH_MS = 100;
/** The most bytes that wait to be written. Beyond this limit, lines are lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The time limit for a stalled reader at the end of the process. */
const STALLED_READER_MS = 1_000;
/** The minimum time between two reports of failing writes. */
const REPORT_INTERVAL_MS = 60_000;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

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
  let waitingBytes = 0;
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
    waitingBytes -= bytes;
  });
  const writeBytes = (bytes: Buffer) => {
    // The limit is here and not in the stream, so that every lost line is counted.
    if (waitingBytes + bytes.length > MAX_WAITING_BYTES) return dropped.add(bytes);
    waitingBytes += bytes.length;
    stream.write(bytes as unknown as string);
  };
  // Encode each line immediately: every garbage collection would copy strings that wait.
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let used = 0;
  const writeBlock = () => {
    if (used === 0) return;
    writeBytes(block.subarray(0, used));
    block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    used = 0;
  };
  const write = (text: string) => {
    if (isEnded) return;
    const maxBytes = text.length * MAX_UTF8_BYTES_PER_UNIT;
    if (used + maxBytes > BLOCK_BYTES) writeBlock();
    if (maxBytes > BLOCK_BYTES) writeBytes(Buffer.from(text));
    else used += block.write(text, used);
  };
  const logger = pino(
    { base: null },
    format === undefined ? { write } : { write: (line) => write(`${format(line)}\n`) },
  );
  const reportDropped = () => {
    // Wait until the buffer has room, or the report would be lost as well.
    if (waitingBytes > MAX_WAITING_BYTES / 2) return;
    const count = dropped.takeUnreportedCount();
    if (count > 0)
      logger.warn({ count }, 'log lines were lost, because they could not be written or were not read in time');
  };
  const flushPeriodically = () => {
    reportDropped();
    writeBlock();
  };
  setInterval(flushPeriodically, FLUSH_MS).unref();
  return {
    logger,
    writeLine: format === undefined ? (json) => write(`${json}\n`) : (json) => write(`${format(json)}\n`),
    flush: () => {
      ending = { bytes: Number.POSITIVE_INFINITY, sinceMs: performance.now() };
      try {
        writeBlock();
        // The stream would retry a failing write forever.
        if (failure === undefined || failure === 'EAGAIN') stream.flushSync();
        else stream.destroy();
      } catch {
        // The lines are lost; destroying the stream prevents further attempts.
        stream.destroy();
      }
    },
    end: async () => {
      writeBlock();
      isEnded = true;
      await waitUntilDrained(stream);
      // The stream would retry the remaining lines forever and delay the exit.
      stream.destroy();
    },
    status: () => ({ droppedLines: dropped.total, waitingBytes, error: failure, errors }),
  };
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

/** Returns a log that another thread writes. @param send receives each line, without its line break */
export function createForwardedLog(send: (line: string) => void): Log {
  const logger = pino({ base: null }, { write: (line) => send(line.slice(0, -1)) });
  return { logger, writeLine: send, flush: () => undefined };
}

/** Returns a log that discards all lines. */
export function createNullLog(): Log {
  return { logger: pino({ enabled: false }), writeLine: () => undefined, flush: () => undefined };
}
