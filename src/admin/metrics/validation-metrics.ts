import type { AdminContext } from '../admin-endpoint.ts';
import { counter, counterBy, gauge, type Metric } from './metric.ts';

/** Metrics of buffered bodies and of the validation threads. */
export const VALIDATION_METRICS: readonly Metric[] = [
  gauge(
    'buffered_bytes',
    'Bytes of request bodies and login responses that the gateway holds in memory.',
    ({ gateway }) => gateway.bufferBudget.usedBytes,
  ),
  gauge(
    'buffered_bytes_limit',
    'The limit of buffered_bytes: server.limits.bufferedBodies.',
    ({ gateway }) => gateway.bufferBudget.limitBytes,
  ),
  counterBy(
    'reason',
    'buffer_refusals_total',
    'Requests refused because buffered bodies reached the limit, or the share of one client.',
    ({ gateway }) => Object.entries(gateway.bufferBudget.refusedCounts),
  ),
  gauge(
    'validation_threads',
    'Threads that validate long bodies and search long login responses for tokens. The validation metrics count such a response as a body.',
    (context) => statusOf(context).threads,
  ),
  gauge('validation_threads_busy', 'Threads that are validating a body.', (context) => statusOf(context).busy),
  gauge('validation_queue', 'Bodies that wait for a thread to validate them.', (context) => statusOf(context).waiting),
  counter(
    'validation_started_total',
    'Bodies that a thread began to validate.',
    (context) => statusOf(context).started,
  ),
  counter(
    'validation_wait_seconds_total',
    'Total time that bodies waited for a thread.',
    (context) => statusOf(context).waited_ms / 1_000,
  ),
  counter(
    'validation_abandoned_total',
    'Validations that were cancelled because the client disconnected.',
    (context) => statusOf(context).abandoned,
  ),
  counter(
    'validation_timeouts_total',
    'Bodies that were refused because their validation took too long.',
    (context) => statusOf(context).too_long,
  ),
  counterBy(
    'reason',
    'validation_refusals_total',
    'Requests refused because the validation queue was full, the share of one client was full, or the wait was too long.',
    (context) => Object.entries(statusOf(context).refused),
  ),
];

/** Returns the sums over the validation threads of all workers. */
function statusOf({ workers }: AdminContext) {
  return workers.telemetry.totals.validation;
}
