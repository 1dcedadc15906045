import pino, { type Logger } from 'pino';
import { DroppedLines } from './dropped-lines.ts';

export interface Log {
  readonly logger: Logger;
  /** Writes a line that is made already, to where the logger writes. */
  writeLine(json: string): void;
  /** Writes out what is buffered, as the process ends. Of a reader that takes nothing any more, the lines are lost. */
  flush(): void;
}

/** The log of a process, which writes to a stream that can fail. */
export interface ProcessLog extends Log {
  status(): LogStatus;
  /** Writes out what is buffered, in its order. A reader that takes nothing for a while loses the lines. */
  end(): Promise<void>;
}

export interface LogStatus {
  /** Lines that were lost because too many waited to be written. */
  readonly droppedLines: number;
  /** Bytes that wait to be written. */
  readonly waitingBytes: number;
  /** The code of the last write's error, `EAGAIN` while the reader takes nothing; `undefined` while writes succeed. */
  readonly error: string | undefined;
  /** Writes that failed; the lines are kept for the next write, up to the limit on waiting bytes. */
  readonly errors: number;
}

/** Lines are written by the block: a write for each of them would cost a tenth of the throughput. */
const BLOCK_BYTES = 65_536;
const FLUSH_MS = 100;
/** Of lines that their reader does not take: what comes beyond is lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long a reader that takes nothing is waited for as the process ends: it could hold the end up for ever. */
const STALLED_READER_MS = 1_000;
/** A stream that fails now and then is reported no more often. */
const REPORT_INTERVAL_MS = 60_000;
/** A UTF-16 unit makes at most so many bytes of UTF-8. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

/**
 * The log of a process: JSON lines to a file descriptor.
 *
 * @param destination a file descriptor, or a path
 * @param format what is written in place of a line: for a person to read
 * @param reportFailure hears the code when writes begin to fail, at most once a minute
 */
export function createProcessLog(
  destination: number | string,
  format?: (json: string) => string,
  reportFailure: (code: string) => void = () => undefined,
): ProcessLog {
  // As the process ends: what waited when its reader took something last, and when that was.
  let ending: { bytes: number; sinceMs: number } | undefined;
  let failure: string | undefined;
  let errors = 0;
  let isEnded = false;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const setFailing = (reason: string | undefined) => {
    failure = reason;
  };
  const stream = pino.destination({
    dest: destination,
    sync: false,
    contentMode: 'buffer',
    retryEAGAIN: (_error, here, behind) => {
      if (ending === undefined) {
        setFailing('EAGAIN');
        return true;
      }
      if (here + behind < ending.bytes) ending = { bytes: here + behind, sinceMs: performance.now() };
      return performance.now() - ending.sinceMs < STALLED_READER_MS;
    },
  });
  let waitingBytes = 0;
  const lost = new DroppedLines();
  // A full disk or a reader that left costs lines, never requests.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    const code = error.code ?? 'unknown';
    const isNew = failure !== code && performance.now() - reportedMs > REPORT_INTERVAL_MS;
    errors += 1;
    setFailing(code);
    if (!isNew) return;
    reportedMs = performance.now();
    reportFailure(code);
  });
  stream.on('write', (bytes: number) => {
    setFailing(undefined);
    waitingBytes -= bytes;
  });
  const give = (bytes: Buffer) => {
    // The stream has no limit of its own, so that all lines that are lost are counted here.
    if (waitingBytes + bytes.length > MAX_WAITING_BYTES) return lost.add(bytes);
    waitingBytes += bytes.length;
    stream.write(bytes as unknown as string);
  };
  // Lines become bytes at once: strings that wait to be joined would be carried along by every collection of garbage.
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let used = 0;
  const release = () => {
    if (used === 0) return;
    give(block.subarray(0, used));
    block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    used = 0;
  };
  const write = (text: string) => {
    if (isEnded) return;
    const most = text.length * MAX_UTF8_BYTES_PER_UNIT;
    if (used + most > BLOCK_BYTES) release();
    if (most > BLOCK_BYTES) give(Buffer.from(text));
    else used += block.write(text, used);
  };
  const logger = pino(
    { base: null },
    format === undefined ? { write } : { write: (line) => write(`${format(line)}\n`) },
  );
  const reportLoss = () => {
    // While there is no room the report would be lost as well.
    if (waitingBytes > MAX_WAITING_BYTES / 2) return;
    const count = lost.takeUnreportedCount();
    if (count > 0) logger.warn({ count }, 'lines of the log were lost: they were not read, or could not be written');
  };
  const gather = () => {
    reportLoss();
    release();
  };
  setInterval(gather, FLUSH_MS).unref();
  return {
    logger,
    writeLine: format === undefined ? (json) => write(`${json}\n`) : (json) => write(`${format(json)}\n`),
    flush: () => {
      ending = { bytes: Number.POSITIVE_INFINITY, sinceMs: performance.now() };
      try {
        release();
        // The stream would try without end what fails.
        if (failure === undefined || failure === 'EAGAIN') stream.flushSync();
        else stream.destroy();
      } catch {
        // What cannot be written is lost, and tried no more.
        stream.destroy();
      }
    },
    end: async () => {
      release();
      isEnded = true;
      await waitUntilDrained(stream);
      // Anything left would be tried without end as the process exits.
      stream.destroy();
    },
    status: () => ({ droppedLines: lost.total, waitingBytes, error: failure, errors }),
  };
}

type Stream = ReturnType<typeof pino.destination>;

/** Resolves when a stream has written everything, fails, or makes no progress. */
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
    // Without anything to write, an empty write drains it.
    stream.write(Buffer.alloc(0) as unknown as string);
  });
}

/** Returns a log that discards all lines. */
export function createNullLog(): Log {
  return { logger: pino({ enabled: false }), writeLine: () => undefined, flush: () => undefined };
}
