import { validationPool } from '../../plan/body/validation-pool.ts';
import { gauge, type Metric } from './metric.ts';

/** Metrics of bodies in memory, and of the threads that validate. */
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
    help: 'Requests refused since bodies take too much memory: all of the limit, or the share of one client.',
    labels: ['reason'],
    *collect({ gateway }) {
      for (const [reason, value] of Object.entries(gateway.bufferBudget.refusedCounts))
        yield { labels: { reason }, value };
    },
  },
  gauge(
    'validation_threads',
    'Threads that validate long bodies, and search long login responses for tokens, which count as bodies here.',
    () => validationPool.status.threads,
  ),
  gauge('validation_threads_busy', 'Threads that validate a body now.', () => validationPool.status.busy),
  gauge('validation_queue', 'Bodies that wait for a thread to validate them.', () => validationPool.status.waiting),
  counter('validation_started_total', 'Bodies that a thread began to validate.', () => validationPool.status.started),
  counter(
    'validation_wait_seconds_total',
    'How long all of those waited for a thread.',
    () => validationPool.status.waited_ms / 1_000,
  ),
  counter(
    'validation_abandoned_total',
    'Validations that were dropped because the client had left.',
    () => validationPool.status.abandoned,
  ),
  counter(
    'validation_timeouts_total',
    'Validations that took too long; the body was refused.',
    () => validationPool.status.too_long,
  ),
  {
    name: 'validation_refusals_total',
    type: 'counter',
    help: 'Requests refused since too much waits for the threads: the queue was full, the share of one client was, or the wait was too long.',
    labels: ['reason'],
    *collect() {
      for (const [reason, value] of Object.entries(validationPool.status.refused)) yield { labels: { reason }, value };
    },
  },
];

function counter(name: string, help: string, read: () => number): Metric {
  return { name, type: 'counter', help, labels: [], collect: () => [{ labels: {}, value: read() }] };
}
