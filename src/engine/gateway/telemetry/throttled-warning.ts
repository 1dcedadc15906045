import type { Log } from '../../log/log.ts';

/** The minimum time between two log lines. */
const INTERVAL_MS = 60_000;

/** Counts events of one kind and logs them: the first one at once, later ones in one line per minute. */
export class ThrottledWarning {
  readonly #logger: Log['logger'];
  readonly #message: string;
  readonly #intervalMs: number;
  #total = 0;
  #unreported = 0;
  #details: object = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Log['logger'], message: string, intervalMs = INTERVAL_MS) {
    this.#logger = logger;
    this.#message = message;
    this.#intervalMs = intervalMs;
  }

  /** The number of events since the process started. */
  get total(): number {
    return this.#total;
  }

  /** @param details members of the log line; the latest ones are logged */
  add(details: object = {}): void {
    this.#total += 1;
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
