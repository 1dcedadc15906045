import type { LogStatus } from '../../process/log/process-log.ts';
import { type Metric, metric, metricBy } from './metric.ts';

function streamMetric(name: string, help: string, read: (status: LogStatus) => number): Metric {
  return metricBy(['stream'], name, help, ({ standardStreams }) =>
    Object.entries(standardStreams()).map(([stream, status]) => [stream, read(status)]),
  );
}

/** Metrics of losses and failures that no response reports to a client. */
export const LOSS_METRICS: readonly Metric[] = [
  streamMetric(
    'stream_dropped_lines_total',
    'Lines of the standard output (the log) and the standard error that were dropped because more than 16 MB waited to be written.',
    ({ droppedLines }) => droppedLines,
  ),
  streamMetric(
    'stream_waiting_bytes',
    'Bytes that wait to be written to the standard output or the standard error.',
    ({ waitingBytes }) => waitingBytes,
  ),
  streamMetric(
    'stream_write_errors_total',
    'Failed writes to the standard output or the standard error, for example on a full disk.',
    ({ errors }) => errors,
  ),
  streamMetric(
    'stream_failing',
    '1 while writes to the standard output or the standard error fail, or nothing reads them.',
    ({ error }) => Number(error !== undefined),
  ),
  metric(
    'client_connections_refused_total',
    'Client connections that were closed because server.limits.connections was reached: new ones, or idle ones of the client that held the most.',
    ({ gateway }) => gateway.clients.refused,
  ),
  metricBy(
    ['listener'],
    'accept_errors_total',
    'Connections that could not be accepted, by listener.',
    ({ gateway, adminMetrics }) =>
      Object.entries({ clients: gateway.clients.unaccepted, admin: adminMetrics.unaccepted.total }),
  ),
  metric(
    'process_open_fds',
    'Open file descriptors, updated every second.',
    ({ descriptors }) => descriptors.status.open ?? Number.NaN,
  ),
  metric(
    'file_descriptors_wanted',
    'The most file descriptors that the gateway can need with the limits of the manifest.',
    ({ descriptors }) => descriptors.status.wanted,
  ),
  metricBy(
    ['use'],
    'file_descriptor_shortages_total',
    'How often no file descriptor was free: for the check every second, or for a connection to an upstream.',
    ({ gateway, descriptors }) =>
      Object.entries({ check: descriptors.status.shortages, upstream: gateway.metrics.descriptorShortages }),
  ),
  metric(
    'config_watch_active',
    '0 while the files of the manifest cannot be watched, for example at the inotify limits. The gateway polls them every 5 s.',
    ({ reloader }) => Number(reloader.watchError === undefined),
  ),
  metric('admin_connections', 'Open connections of the admin API.', ({ adminMetrics }) => adminMetrics.connections),
  metric(
    'admin_connections_evicted_total',
    'Connections of the admin API that were closed to make room for new ones.',
    ({ adminMetrics }) => adminMetrics.evicted.total,
  ),
  metric(
    'admin_refusals_total',
    'Requests to the admin API that were refused because too many others were being served.',
    ({ adminMetrics }) => adminMetrics.refused.total,
  ),
  metric(
    'skipped_decisions_total',
    'Decisions that were not sent to a stream of /decisions because there were too many.',
    ({ adminMetrics }) => adminMetrics.skippedEvents,
  ),
  metric(
    'standstill_seconds_total',
    'Time that the process or one of its workers did not run, in standstills of more than a second.',
    ({ gateway }) => gateway.standstillMs / 1_000,
  ),
  metricBy(['state'], 'nodejs_eventloop_seconds_total', 'Time that the event loop was active, and idle.', () => {
    const { active, idle } = performance.eventLoopUtilization();
    return Object.entries({ active: active / 1_000, idle: idle / 1_000 });
  }),
];
