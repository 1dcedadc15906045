import type { Log } from '../../engine/log/log.ts';
import { countLines, createLogger, MAX_WAITING_BYTES } from './line-output.ts';
import { FLUSH_MS, LineBlocks, linesOf } from './process-log.ts';

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
