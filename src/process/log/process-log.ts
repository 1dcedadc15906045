import type { Log } from '../../engine/log/log.ts';
import { createLogger, LineOutput, MAX_WAITING_BYTES } from './line-output.ts';

/** The log of a process, which writes to a stream that can fail. */
export interface ProcessLog extends Required<Log> {
  status(): LogStatus;
  /** Writes the buffered lines in order and closes the log. If the reader has stalled, the lines are lost. */
  end(): Promise<void>;
}

export type LogStatus = LineOutput['status'];

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
  const logger = createLogger((line) => {
    writeLine(line.slice(0, -1));
    // Such lines are rare, and an operator waits for that of the start.
    blocks.flush();
  });
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

/** Lines are written in blocks: one write for each line would cost a tenth of the throughput. */
const BLOCK_BYTES = 65_536;
/** The longest time that a line waits for further lines of its block. */
export const FLUSH_MS = 100;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

/** Collects lines in blocks of bytes. No line is in two blocks. */
export class LineBlocks {
  readonly #send: (bytes: Buffer<ArrayBuffer>) => void;
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  /** @param send receives each block, whose memory holds nothing else */
  constructor(send: (bytes: Buffer<ArrayBuffer>) => void) {
    this.#send = send;
  }

  /** Encodes complete lines immediately: every garbage collection would copy strings that wait. */
  write(text: string): void {
    const maxBytes = text.length * MAX_UTF8_BYTES_PER_UNIT;
    if (this.#used + maxBytes > BLOCK_BYTES) this.flush();
    if (maxBytes > BLOCK_BYTES) this.#sendLong(text);
    else this.#used += this.#block.write(text, this.#used);
  }

  /** Sends the lines that no block has sent. */
  flush(): void {
    const used = this.#used;
    if (used === 0) return;
    const block = this.#block;
    this.#used = 0;
    if (used <= BLOCK_BYTES / 2) this.#sendCopy(block.subarray(0, used));
    else {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#send(block.subarray(0, used));
    }
  }

  /** Blocks that wait for a stalled reader would otherwise hold much more memory than their lines. */
  #sendCopy(bytes: Buffer): void {
    const lines = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(lines);
    this.#send(lines);
  }

  /** A buffer of the shared pool could not be transferred to another thread. */
  #sendLong(text: string): void {
    const lines = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    lines.write(text);
    this.#send(lines);
  }
}

/** Returns the lines of a block, without their line breaks. */
export function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n').slice(0, -1);
}
