import type { LogStatus } from '../../process/log/process-log.ts';
import { type MetricEntry, type MetricTable, metric, metricBy } from './metric.ts';

function streamMetric(help: string, read: (status: LogStatus) => number): MetricEntry {
  return metricBy(['stream'], help, ({ standardStreams }) =>
    Object.entries(standardStreams()).map(([stream, status]) => [stream, read(status)]),
  );
}

/** Metrics of losses and failures that no response reports to a client. */
export const LOSS_METRICS: MetricTable = {
  stream_dropped_lines_total: streamMetric(
    'Lines of the standard output (the log) and the standard error that were dropped because more than 16 MB waited to be written.',
    ({ droppedLines }) => droppedLines,
  ),
  stream_waiting_bytes: streamMetric(
    'Bytes that wait to be written to the standard output or the standard error.',
    ({ waitingBytes }) => waitingBytes,
  ),
  stream_write_errors_total: streamMetric(
    'Failed writes to the standard output or the standard error, for example on a full disk.',
    ({ errors }) => errors,
  ),
  stream_failing: streamMetric(
    '1 while writes to the standard output or the standard error fail, or nothing reads them.',
    ({ error }) => Number(error !== undefined),
  ),
  client_connections_refused_total: metric(
    'Client connections that were closed because server.limits.connections was reached: new ones, or idle ones of the client that held the most.',
    ({ gateway }) => gateway.clients.refused,
  ),
  accept_errors_total: metricBy(
    ['listener'],
    'Connections that could not be accepted, by listener.',
    ({ gateway, adminMetrics }) =>
      Object.entries({ clients: gateway.clients.unaccepted, admin: adminMetrics.unaccepted.total }),
  ),
  process_open_fds: metric(
    'Open file descriptors, updated every second.',
    ({ descriptors }) => descriptors.status.open ?? Number.NaN,
  ),
  file_descriptors_wanted: metric(
    'The most file descriptors that the gateway can need with the limits of the manifest.',
    ({ descriptors }) => descriptors.status.wanted,
  ),
  file_descriptor_shortages_total: metricBy(
    ['use'],
    'How often no file descriptor was free: for the check every second, or for a connection to an upstream.',
    ({ gateway, descriptors }) =>
      Object.entries({ check: descriptors.status.shortages, upstream: gateway.metrics.descriptorShortages }),
  ),
  config_watch_active: metric(
    '0 while the files of the manifest cannot be watched, for example at the inotify limits. The gateway polls them every 5 s.',
    ({ reloader }) => Number(reloader.watchError === undefined),
  ),
  admin_connections: metric('Open connections of the admin API.', ({ adminMetrics }) => adminMetrics.connections),
  admin_connections_evicted_total: metric(
    'Connections of the admin API that were closed to make room for new ones.',
    ({ adminMetrics }) => adminMetrics.evicted.total,
  ),
  admin_refusals_total: metric(
    'Requests to the admin API that were refused because too many others were being served.',
    ({ adminMetrics }) => adminMetrics.refused.total,
  ),
  skipped_decisions_total: metric(
    'Decisions that were not sent to a stream of /decisions because there were too many.',
    ({ adminMetrics }) => adminMetrics.skippedEvents,
  ),
  standstill_seconds_total: metric(
    'Time that the process or one of its workers did not run, in standstills of more than a second.',
    ({ gateway }) => gateway.standstillMs / 1_000,
  ),
  nodejs_eventloop_seconds_total: metricBy(['state'], 'Time that the event loop was active, and idle.', () => {
    const { active, idle } = performance.eventLoopUtilization();
    return Object.entries({ active: active / 1_000, idle: idle / 1_000 });
  }),
};
