import type { AdminContext } from '../admin-endpoint.ts';
import { type MetricTable, metric, metricBy } from './metric.ts';

export const VALIDATION_METRICS: MetricTable = {
  buffered_bytes: metric(
    'Bytes of request bodies and login responses that the gateway holds in memory.',
    ({ gateway }) => gateway.bufferBudget.usedBytes,
  ),
  buffered_bytes_limit: metric(
    'The limit of buffered_bytes: server.limits.bufferedBodies.',
    ({ gateway }) => gateway.bufferBudget.limitBytes,
  ),
  buffer_refusals_total: metricBy(
    ['reason'],
    'Requests refused because buffered bodies reached the limit, or the share of one client.',
    ({ gateway }) => Object.entries(gateway.bufferBudget.refusedCounts),
  ),
  validation_threads: metric(
    'Threads that validate long bodies and search long login responses for tokens. The validation metrics count such a response as a body.',
    (context) => statusOf(context).threads,
  ),
  validation_threads_busy: metric('Threads that are validating a body.', (context) => statusOf(context).busy),
  validation_queue: metric('Bodies that wait for a thread to validate them.', (context) => statusOf(context).waiting),
  validation_started_total: metric('Bodies that a thread began to validate.', (context) => statusOf(context).started),
  validation_wait_seconds_total: metric(
    'Total time that bodies waited for a thread.',
    (context) => statusOf(context).waited_ms / 1_000,
  ),
  validation_abandoned_total: metric(
    'Validations that were cancelled because the client disconnected.',
    (context) => statusOf(context).abandoned,
  ),
  validation_timeouts_total: metric(
    'Bodies that were refused because their validation took too long.',
    (context) => statusOf(context).too_long,
  ),
  validation_refusals_total: metricBy(
    ['reason'],
    'Requests refused because the validation queue was full, the share of one client was full, or the wait was too long.',
    (context) => Object.entries(statusOf(context).refused),
  ),
};

/** Returns the sums over the validation threads of all workers. */
function statusOf({ workers }: AdminContext) {
  return workers.telemetry.totals.validation;
}
