import type { ValidationPoolStatus } from '../../engine/validation/validation-pool.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { counter, gauge, type Metric } from './metric.ts';

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
  {
    name: 'buffer_refusals_total',
    type: 'counter',
    help: 'Requests refused because buffered bodies reached the limit, or the share of one client.',
    labels: ['reason'],
    *collect({ gateway }) {
      for (const [reason, value] of Object.entries(gateway.bufferBudget.refusedCounts))
        yield { labels: { reason }, value };
    },
  },
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
  {
    name: 'validation_refusals_total',
    type: 'counter',
    help: 'Requests refused because the validation queue was full, the share of one client was full, or the wait was too long.',
    labels: ['reason'],
    *collect(context) {
      for (const [reason, value] of Object.entries(statusOf(context).refused)) yield { labels: { reason }, value };
    },
  },
];

/** Returns the sums over the validation threads of all workers. */
function statusOf({ workers }: AdminContext): ValidationPoolStatus {
  return workers.telemetry.totals.validation;
}
