import type { Log } from '../../engine/log/log.ts';
import { FLUSH_MS, LineBlocks, linesOf, MAX_WAITING_BYTES } from './line-blocks.ts';
import { createLogger, LineOutput } from './line-output.ts';

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
