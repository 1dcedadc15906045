import pino, { type Logger } from 'pino';

export interface Log {
  readonly logger: Logger;
  /** Writes a line that is made already, to where the logger writes. */
  line(json: string): void;
  /** Writes out what is buffered. */
  flush(): void;
}

/** Lines are written by the block: a write for each of them would cost a tenth of the throughput. */
const BUFFERED_BYTES = 65_536;
const FLUSH_MS = 100;

/**
 * The log of a process: JSON lines to a file descriptor.
 *
 * @param destination a file descriptor, or a path
 */
export function createLog(destination: number | string): Log {
  const stream = pino.destination({
    dest: destination,
    sync: false,
    minLength: BUFFERED_BYTES,
    maxWrite: 2 * BUFFERED_BYTES,
    periodicFlush: FLUSH_MS,
  });
  const logger = pino({ base: null }, stream);
  return {
    logger,
    line: (json) => void stream.write(`${json}\n`),
    flush: () => stream.flushSync(),
  };
}
