import { type Metric, metric, metricBy } from './metric.ts';

/** Metrics of the workers. Worker 0 is the main thread. */
export const WORKER_METRICS: readonly Metric[] = [
  metric('workers', 'Workers that serve requests.', ({ workers }) => workers.status.serving),
  metric('workers_wanted', 'Workers that server.workers requires.', ({ workers }) => workers.status.count),
  metric(
    'worker_failures_total',
    'Workers that ended unexpectedly. Each is replaced.',
    ({ workers }) => workers.status.failures,
  ),
  metricBy(['worker'], 'worker_connections', 'Open connections of clients, by worker.', ({ workers }) =>
    workers.telemetry.figures.entries().map(([worker, { connections }]) => [String(worker), connections]),
  ),
  metricBy(
    ['worker', 'state'],
    'worker_eventloop_seconds_total',
    'Time that the event loop of a worker was active, and idle. Worker 0 is the main thread.',
    ({ workers }) =>
      workers.telemetry.figures
        .entries()
        .flatMap(([index, { eventLoop }]) =>
          Object.entries(eventLoop).map(([state, ms]) => [String(index), state, ms / 1_000] as const),
        ),
  ),
];
