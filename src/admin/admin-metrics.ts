import { type Log, ThrottledWarning } from '../engine/log/log.ts';

export type AdminMetrics = ReturnType<typeof createAdminMetrics>;

/** Counts failures of the admin API. Each kind has a metric, and a log line at most once a minute. */
export function createAdminMetrics(logger: Log['logger']) {
  return {
    connections: 0,
    /** The latest count of each series that a reload can begin again, and the sum of its counts before those reloads. */
    counts: new Map<string, { readonly latest: number; readonly earlier: number }>(),
    /** Decisions that were not sent to a stream because there were too many. */
    skippedEvents: 0,
    evicted: new ThrottledWarning(logger, 'admin connections were closed to make room for new ones'),
    refused: new ThrottledWarning(logger, 'admin requests were refused: too many at the same time'),
    /** For example because no file descriptor was free. */
    unaccepted: new ThrottledWarning(logger, 'admin connections could not be accepted'),
    /** Errors after the status of a response was sent. */
    failed: new ThrottledWarning(logger, 'admin responses failed'),
  };
}
