import pino, { type Logger } from 'pino';
import { LostLines } from './log/lost-lines.ts';

export interface Log {
  readonly logger: Logger;
  /** Writes a line that is made already, to where the logger writes. */
  line(json: string): void;
  /** Writes out what is buffered, as the process ends. Of a reader that takes nothing any more, the lines are lost. */
  flush(): void;
}

/** A log that writes to somewhere. */
export interface WrittenLog extends Log {
  status(): LogStatus;
}

export interface LogStatus {
  /** Lines that were lost because too many waited to be written. */
  readonly droppedLines: number;
  /** Bytes that wait to be written. */
  readonly waitingBytes: number;
  /** The code of the error that keeps lines from being written, `ENOSPC` or `EPIPE` for example. */
  readonly error: string | undefined;
}

/** Lines are written by the block: a write for each of them would cost a tenth of the throughput. */
const BLOCK_BYTES = 65_536;
const FLUSH_MS = 100;
/** Of lines that their reader does not take: what comes beyond is lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long a reader that takes nothing is waited for as the process ends: it could hold the end up for ever. */
const PATIENCE_MS = 1_000;
/** A UTF-16 unit makes at most so many bytes of UTF-8. */
const MAX_BYTES_OF_UNIT = 3;

/**
 * The log of a process: JSON lines to a file descriptor.
 *
 * @param destination a file descriptor, or a path
 * @param format what is written in place of a line: for a person to read
 */
export function createLog(destination: number | string, format?: (json: string) => string): WrittenLog {
  // As the process ends: what waited when its reader took something last, and when that was.
  let ending: { bytes: number; sinceMs: number } | undefined;
  const stream = pino.destination({
    dest: destination,
    sync: false,
    contentMode: 'buffer',
    retryEAGAIN: (_error, here, behind) => {
      if (ending === undefined) return true;
      if (here + behind < ending.bytes) ending = { bytes: here + behind, sinceMs: performance.now() };
      return performance.now() - ending.sinceMs < PATIENCE_MS;
    },
  });
  // A full disk, or a reader that left: the lines are lost, requests are not.
  let failure: string | undefined;
  let waitingBytes = 0;
  const lost = new LostLines();
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    failure = code ?? message;
  });
  stream.on('write', (bytes: number) => {
    failure = undefined;
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
    const most = text.length * MAX_BYTES_OF_UNIT;
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
    const count = lost.takeReport();
    if (count > 0) logger.warn({ count }, 'lines of the log were lost: they were not read, or could not be written');
  };
  const gather = () => {
    reportLoss();
    release();
  };
  setInterval(gather, FLUSH_MS).unref();
  return {
    logger,
    line: format === undefined ? (json) => write(`${json}\n`) : (json) => write(`${format(json)}\n`),
    flush: () => {
      ending = { bytes: Number.POSITIVE_INFINITY, sinceMs: performance.now() };
      try {
        release();
        // The stream would try without end what fails.
        if (failure === undefined) stream.flushSync();
        else stream.destroy();
      } catch {
        // What cannot be written is lost, and tried no more.
        stream.destroy();
      }
    },
    status: () => ({ droppedLines: lost.total, waitingBytes, error: failure }),
  };
}

/** A log that is kept by nobody: each line that was made goes to `take`, what the logger is told is lost. */
export function quietLog(take: (json: string) => void): Log {
  return { logger: pino({ enabled: false }), line: take, flush: () => undefined };
}
