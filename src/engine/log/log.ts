import type { Logger } from 'pino';

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

/** Returns a log that discards all lines. */
export function createNullLog(): Log {
  const ignore = () => undefined;
  const logger = { info: ignore, warn: ignore, error: ignore, fatal: ignore } as unknown as Logger;
  return { logger, writeLine: ignore, flush: ignore };
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
