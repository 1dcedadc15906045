import type { AdminContext } from '../admin-endpoint.ts';
import { type Metric, metric, metricBy } from './metric.ts';

export const VALIDATION_METRICS: readonly Metric[] = [
  metric(
    'buffered_bytes',
    'Bytes of request bodies and login responses that the gateway holds in memory.',
    ({ gateway }) => gateway.bufferBudget.usedBytes,
  ),
  metric(
    'buffered_bytes_limit',
    'The limit of buffered_bytes: server.limits.bufferedBodies.',
    ({ gateway }) => gateway.bufferBudget.limitBytes,
  ),
  metricBy(
    ['reason'],
    'buffer_refusals_total',
    'Requests refused because buffered bodies reached the limit, or the share of one client.',
    ({ gateway }) => Object.entries(gateway.bufferBudget.refusedCounts),
  ),
  metric(
    'validation_threads',
    'Threads that validate long bodies and search long login responses for tokens. The validation metrics count such a response as a body.',
    (context) => statusOf(context).threads,
  ),
  metric('validation_threads_busy', 'Threads that are validating a body.', (context) => statusOf(context).busy),
  metric('validation_queue', 'Bodies that wait for a thread to validate them.', (context) => statusOf(context).waiting),
  metric('validation_started_total', 'Bodies that a thread began to validate.', (context) => statusOf(context).started),
  metric(
    'validation_wait_seconds_total',
    'Total time that bodies waited for a thread.',
    (context) => statusOf(context).waited_ms / 1_000,
  ),
  metric(
    'validation_abandoned_total',
    'Validations that were cancelled because the client disconnected.',
    (context) => statusOf(context).abandoned,
  ),
  metric(
    'validation_timeouts_total',
    'Bodies that were refused because their validation took too long.',
    (context) => statusOf(context).too_long,
  ),
  metricBy(
    ['reason'],
    'validation_refusals_total',
    'Requests refused because the validation queue was full, the share of one client was full, or the wait was too long.',
    (context) => Object.entries(statusOf(context).refused),
  ),
];

/** Returns the sums over the validation threads of all workers. */
function statusOf({ workers }: AdminContext) {
  return workers.telemetry.totals.validation;
}
