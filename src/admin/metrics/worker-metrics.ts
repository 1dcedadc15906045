import { counter, gauge, gaugeBy, type Metric } from './metric.ts';

/** Metrics of the workers. Worker 0 is the main thread. */
export const WORKER_METRICS: readonly Metric[] = [
  gauge('workers', 'Workers that serve requests.', ({ workers }) => workers.status.serving),
  gauge('workers_wanted', 'Workers that server.workers requires.', ({ workers }) => workers.status.count),
  counter(
    'worker_failures_total',
    'Workers that ended unexpectedly. Each is replaced.',
    ({ workers }) => workers.status.failures,
  ),
  gaugeBy('worker', 'worker_connections', 'Open connections of clients, by worker.', ({ workers }) =>
    workers.telemetry.figures.entries().map(([worker, { connections }]) => [String(worker), connections]),
  ),
  {
    name: 'worker_eventloop_seconds_total',
    type: 'counter',
    help: 'Time that the event loop of a worker was active, and idle. Worker 0 is the main thread.',
    labels: ['worker', 'state'],
    *collect({ workers }) {
      for (const [index, { eventLoop }] of workers.telemetry.figures)
        for (const [state, ms] of Object.entries(eventLoop))
          yield { labels: { worker: String(index), state }, value: ms / 1_000 };
    },
  },
];
