import { CountedWarning } from '../gateway/counted-warning.ts';
import type { Log } from '../log.ts';

/** Counts what the admin API could not serve. Each kind has a metric, and a line in the log at most once a minute. */
export class AdminCounts {
  /** Open connections. */
  connections = 0;
  /** Decisions that matched, or might have, and were not sent because there were too many. */
  skippedDecisions = 0;
  readonly #evicted: CountedWarning;
  readonly #refused: CountedWarning;
  readonly #unaccepted: CountedWarning;
  readonly #failed: CountedWarning;

  constructor(logger: Log['logger']) {
    this.#evicted = new CountedWarning(logger, 'admin connections were closed to make room for new ones');
    this.#refused = new CountedWarning(logger, 'admin requests were refused: too many at one time');
    this.#unaccepted = new CountedWarning(logger, 'admin connections could not be accepted');
    this.#failed = new CountedWarning(logger, 'admin responses failed');
  }

  /** An error in the middle of a response, for which no status can be sent. */
  failed(error: Error): void {
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

  /** Connections that could not be accepted, when no file descriptor was free for example. */
  get unaccepted(): number {
    return this.#unaccepted.total;
  }

  acceptFailed({ code }: NodeJS.ErrnoException): void {
    this.#unaccepted.add({ reason: code });
  }

  evicted(peer: string): void {
    this.#evicted.add({ peer });
  }

  refused(path: string): void {
    this.#refused.add({ path });
  }
}
