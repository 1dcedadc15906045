import pino, { type Logger } from 'pino';

export interface Log {
  readonly logger: Logger;
  /** Writes a line that is made already, to where the logger writes. */
  line(json: string): void;
  /** Writes out what is buffered. */
  flush(): void;
}

/** Lines are written by the block: a write for each of them would cost a tenth of the throughput. */
const BLOCK_CHARACTERS = 32_768;
const FLUSH_MS = 100;

/**
 * The log of a process: JSON lines to a file descriptor.
 *
 * @param destination a file descriptor, or a path
 */
export function createLog(destination: number | string): Log {
  const stream = pino.destination({ dest: destination, sync: false });
  // A full disk, or a reader that left: the lines are lost, requests are not.
  stream.on('error', () => undefined);
  // The block is gathered here and not by the stream, which would measure all of it again at every line.
  let block = '';
  const release = () => {
    if (block !== '') stream.write(block);
    block = '';
  };
  const write = (text: string) => {
    block += text;
    if (block.length >= BLOCK_CHARACTERS) release();
  };
  setInterval(release, FLUSH_MS).unref();
  return {
    logger: pino({ base: null }, { write }),
    line: (json) => write(`${json}\n`),
    flush: () => {
      release();
      try {
        stream.flushSync();
      } catch {
        // What cannot be written is lost.
      }
    },
  };
}

/** A log that is kept by nobody: each line that was made goes to `take`, what the logger is told is lost. */
export function quietLog(take: (json: string) => void): Log {
  return { logger: pino({ enabled: false }), line: take, flush: () => undefined };
}
