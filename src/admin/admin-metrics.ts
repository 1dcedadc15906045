import { type Log, ThrottledWarning } from '../engine/log/log.ts';

/** Counts failures of the admin API. Each kind has a metric, and a log line at most once a minute. */
export class AdminMetrics {
  /** Open connections. */
  connections = 0;
  /** Decisions that were not sent to a stream because there were too many. */
  skippedEvents = 0;
  readonly #evicted: ThrottledWarning;
  readonly #refused: ThrottledWarning;
  readonly #unaccepted: ThrottledWarning;
  readonly #failed: ThrottledWarning;

  constructor(logger: Log['logger']) {
    this.#evicted = new ThrottledWarning(logger, 'admin connections were closed to make room for new ones');
    this.#refused = new ThrottledWarning(logger, 'admin requests were refused: too many at the same time');
    this.#unaccepted = new ThrottledWarning(logger, 'admin connections could not be accepted');
    this.#failed = new ThrottledWarning(logger, 'admin responses failed');
  }

  /** Records an error after the status of a response was sent. */
  recordResponseError(error: Error): void {
    this.#failed.add({ reason: error.message });
  }

  /** Connections that were closed to make room for others. */
  get evictions(): number {
    return this.#evicted.total;
  }

  /** Requests that were refused because too many others were being served. */
  get refusals(): number {
    return this.#refused.total;
  }

  /** Connections that could not be accepted, for example because no file descriptor was free. */
  get acceptErrors(): number {
    return this.#unaccepted.total;
  }

  recordAcceptError({ code }: NodeJS.ErrnoException): void {
    this.#unaccepted.add({ reason: code });
  }

  recordEviction(peer: string): void {
    this.#evicted.add({ peer });
  }

  recordRefusal(path: string): void {
    this.#refused.add({ path });
  }
}
