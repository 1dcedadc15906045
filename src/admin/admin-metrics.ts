import { type Log, ThrottledWarning } from '../engine/log/log.ts';

/** Counts failures of the admin API. Each kind has a metric, and a log line at most once a minute. */
export class AdminMetrics {
  /** Open connections. */
  connections = 0;
  /** Decisions that were not sent to a stream because there were too many. */
  skippedEvents = 0;
  readonly evicted: ThrottledWarning;
  readonly refused: ThrottledWarning;
  /** For example because no file descriptor was free. */
  readonly unaccepted: ThrottledWarning;
  /** Errors after the status of a response was sent. */
  readonly failed: ThrottledWarning;

  constructor(logger: Log['logger']) {
    this.evicted = new ThrottledWarning(logger, 'admin connections were closed to make room for new ones');
    this.refused = new ThrottledWarning(logger, 'admin requests were refused: too many at the same time');
    this.unaccepted = new ThrottledWarning(logger, 'admin connections could not be accepted');
    this.failed = new ThrottledWarning(logger, 'admin responses failed');
  }
}
