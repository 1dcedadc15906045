import type { LogStatus } from '../../engine/log/log.ts';
import { counter, counterBy, gauge, gaugeBy, type Metric } from './metric.ts';

function streamMetric(name: string, type: Metric['type'], help: string, read: (status: LogStatus) => number): Metric {
  const metric = gaugeBy('stream', name, help, ({ standardStreams }) =>
    Object.entries(standardStreams()).map(([stream, status]) => [stream, read(status)]),
  );
  return { ...metric, type };
}

/** Metrics of losses and failures that no response reports to a client. */
export const LOSS_METRICS: readonly Metric[] = [
  streamMetric(
    'stream_dropped_lines_total',
    'counter',
    'Lines of the standard output (the log) and the standard error that were dropped because more than 16 MB waited to be written.',
    ({ droppedLines }) => droppedLines,
  ),
  streamMetric(
    'stream_waiting_bytes',
    'gauge',
    'Bytes that wait to be written to the standard output or the standard error.',
    ({ waitingBytes }) => waitingBytes,
  ),
  streamMetric(
    'stream_write_errors_total',
    'counter',
    'Failed writes to the standard output or the standard error, for example on a full disk.',
    ({ errors }) => errors,
  ),
  streamMetric(
    'stream_failing',
    'gauge',
    '1 while writes to the standard output or the standard error fail, or nothing reads them.',
    ({ error }) => Number(error !== undefined),
  ),
  counter(
    'client_connections_refused_total',
    'Client connections that were closed immediately because server.limits.connections was reached.',
    ({ gateway }) => gateway.clients.refused,
  ),
  counterBy(
    'listener',
    'accept_errors_total',
    'Connections that could not be accepted, by listener.',
    ({ gateway, adminMetrics }) =>
      Object.entries({ clients: gateway.clients.unaccepted, admin: adminMetrics.acceptErrors }),
  ),
  gauge(
    'process_open_fds',
    'Open file descriptors, updated every second.',
    ({ descriptors }) => descriptors.status.open ?? Number.NaN,
  ),
  gauge(
    'file_descriptors_wanted',
    'The most file descriptors that the gateway can need with the limits of the manifest.',
    ({ descriptors }) => descriptors.status.wanted,
  ),
  counterBy(
    'use',
    'file_descriptor_shortages_total',
    'How often no file descriptor was free: for the check every second, or for a connection to an upstream.',
    ({ gateway, descriptors }) =>
      Object.entries({ check: descriptors.status.shortages, upstream: gateway.metrics.descriptorShortages }),
  ),
  gauge(
    'config_watch_active',
    '0 while the files of the manifest cannot be watched, for example at the inotify limits. The gateway polls them every 5 s.',
    ({ reloader }) => Number(reloader.watchError === undefined),
  ),
  gauge('admin_connections', 'Open connections of the admin API.', ({ adminMetrics }) => adminMetrics.connections),
  counter(
    'admin_connections_evicted_total',
    'Connections of the admin API that were closed to make room for new ones.',
    ({ adminMetrics }) => adminMetrics.evictions,
  ),
  counter(
    'admin_refusals_total',
    'Requests to the admin API that were refused because too many others were being served.',
    ({ adminMetrics }) => adminMetrics.refusals,
  ),
  counter(
    'skipped_decisions_total',
    'Decisions that were not sent to a stream of /decisions because there were too many.',
    ({ adminMetrics }) => adminMetrics.skippedEvents,
  ),
  counter(
    'standstill_seconds_total',
    'Time that the process or one of its workers did not run, in standstills of more than a second.',
    ({ gateway }) => gateway.standstillMs / 1_000,
  ),
  counterBy('state', 'nodejs_eventloop_seconds_total', 'Time that the event loop was active, and idle.', () => {
    const { active, idle } = performance.eventLoopUtilization();
    return Object.entries({ active: active / 1_000, idle: idle / 1_000 });
  }),
];
