import { AT } from '../../engine/gateway/telemetry/request-counters.ts';
import type { VerifierStatus } from '../../engine/tokens/verifier.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { READINESS_STATUSES, readinessOf } from '../endpoints/health.ts';
import { CANDIDATE_METRICS } from './candidate-metrics.ts';
import { LOSS_METRICS } from './loss-metrics.ts';
import { histogram, type MetricTable, metric, metricBy } from './metric.ts';
import { RATE_LIMIT_METRICS } from './rate-limit-metrics.ts';
import { UPSTREAM_METRICS } from './upstream-metrics.ts';
import { VALIDATION_METRICS } from './validation-metrics.ts';

/** The metrics of the gateway. No label contains text from a client, which could create any number of series. */
const TABLE: MetricTable = {
  requests_total: metricBy(
    ['route', 'method', 'status'],
    'Completed requests, by route, method and status class; "none" if the client disconnected before the response began.',
    ({ gateway }) =>
      gateway.metrics.routes.flatMap(([route, { requests }]) =>
        requests.map(({ method, status, count }) => [route, method, status, count]),
      ),
  ),
  request_duration_seconds: histogram(
    ['route'],
    'Time from the request head to the end of the response.',
    ({ gateway }) => gateway.metrics.routes.map(([route, sums]) => [route, sums.histogram(AT.time)]),
  ),
  gateway_duration_seconds: histogram(
    ['upstream'],
    'Time from the request head until the gateway forwarded or refused the request, including reading a validated body.',
    ({ gateway }) => gateway.metrics.upstreams.map(([upstream, sums]) => [upstream, sums.histogram(AT.gatewayTime)]),
  ),
  upstream_duration_seconds: histogram(
    ['upstream'],
    'Time from the start of the upstream request until the response began; for a login, until it was complete.',
    ({ gateway }) => gateway.metrics.upstreams.map(([upstream, sums]) => [upstream, sums.histogram(AT.time)]),
  ),
  requests_in_flight: metric('Requests in progress, including tunnels.', ({ gateway }) => gateway.metrics.inFlight),
  client_connections: metric('Open connections of clients.', ({ gateway }) => gateway.clients.connections),
  tunnels: metric('Connections that carry a WebSocket.', ({ gateway }) => gateway.clients.tunnels),
  refusals_total: metricBy(
    ['code'],
    'Refused requests, by code (docs/errors.md).',
    ({ gateway }) => gateway.metrics.refusals,
  ),
  validation_reports_total: metricBy(
    ['route'],
    'Forwarded requests with violations that `validation: enforce` would have refused.',
    ({ gateway }) => gateway.metrics.reportedRequests,
  ),
  ...RATE_LIMIT_METRICS,
  ...VALIDATION_METRICS,
  ...UPSTREAM_METRICS,
  token_cache_total: metricBy(
    ['result', 'issuer'],
    'Token lookups in the cache of verified tokens, by result, and by token method if there are several.',
    ofMethods(({ hits, misses }) => Object.entries({ hit: hits, miss: misses })),
  ),
  token_cache_entries: metricBy(
    ['issuer'],
    'Valid tokens in the cache. With several workers, a JWT counts once for each worker that has verified it.',
    ({ gateway }) => {
      const methods = gateway.plan.auth?.verifier.methods ?? [];
      return methods.length === 0 ? [['', 0]] : methods.map(({ name = '', status }) => [name, status.entries]);
    },
  ),
  token_verifications_total: metricBy(
    ['result', 'issuer'],
    'Verifications of tokens that were not cached, by result: "valid", or the reason of the refusal (docs/log.md).',
    ofMethods(({ results }) => results),
  ),
  authorizations_total: metricBy(
    ['result'],
    'Requests that need a token, by result: "allowed", or the reason of the refusal (docs/log.md).',
    ({ gateway }) => (gateway.plan.auth === undefined ? [] : gateway.metrics.authorizations),
  ),
  key_fetches_total: metricBy(
    ['result', 'issuer'],
    'Fetches of the keys of the issuer (JWKS), by result.',
    ofMethods(({ keys, fetches, failedFetches }) =>
      keys === 'none' ? [] : Object.entries({ ok: fetches, failed: failedFetches }),
    ),
  ),
  readiness: metricBy(['status'], '1 for the status that /readyz reports.', (context) => {
    const current = readinessOf(context).status;
    return READINESS_STATUSES.map((status) => [status, Number(status === current)]);
  }),
  config_info: metricBy(['hash', 'version'], '1, with the SHA-256 of the active manifest.', ({ gateway, version }) => [
    [gateway.plan.hash, version, 1],
  ]),
  config_reloads_total: metricBy(
    ['result', 'cause'],
    'Reloads that found a change, by result ("accepted", "rejected", "unreadable", "failed") and cause.',
    ({ reloader }) => reloader.counts.map(({ kind, cause, count }) => [kind, cause, count]),
  ),
  config_last_reload_successful: metric('1 if the last reload succeeded, 0 if it failed.', ({ reloader }) =>
    Number((reloader.lastOutcome?.kind ?? 'accepted') === 'accepted'),
  ),
  config_last_reload_success_timestamp_seconds: metric(
    'When the active manifest was activated, in seconds since the Unix epoch.',
    ({ reloader }) => reloader.lastActivatedAt.getTime() / 1_000,
  ),
  config_hung_threads: metric(
    'Threads that wait for a file system that does not respond.',
    ({ reloader }) => reloader.hungThreadCount,
  ),
  ...CANDIDATE_METRICS,
  certificate_expiry_timestamp_seconds: metricBy(
    ['use', 'upstream', 'key'],
    'When the first certificate in a file expires, in seconds since the Unix epoch, by the key of the manifest and its use: "server", "admin", "upstream" or "store".',
    ({ gateway: { plan } }) =>
      plan.certificates.map(({ path, expiresMs }) => {
        const [part, id] = path.map(String);
        const upstream = part === 'upstreams' ? `${id}` : '';
        return [`${part}`.replace(/s$/, ''), upstream, path.join('.'), expiresMs / 1_000];
      }),
  ),
  ...LOSS_METRICS,
  workers: metric('Workers that serve requests.', ({ workers }) => workers.status.serving),
  workers_wanted: metric('Workers that server.workers requires.', ({ workers }) => workers.status.count),
  worker_failures_total: metric(
    'Workers that ended unexpectedly. Each is replaced.',
    ({ workers }) => workers.status.failures,
  ),
  hung_threads_total: metricBy(
    ['thread'],
    'Threads that did not respond and were replaced: "worker", "file" and "manifest" (reloads), "validation".',
    ({ workers, reloader }) =>
      Object.entries({
        worker: workers.status.hung,
        ...reloader.hangCounts,
        validation: workers.telemetry.totals.validation.too_long,
      }),
  ),
  worker_connections: metricBy(['worker'], 'Open connections of clients, by worker.', ({ workers }) =>
    workers.telemetry.figures.entries().map(([worker, { connections }]) => [String(worker), connections]),
  ),
  worker_eventloop_seconds_total: metricBy(
    ['worker', 'state'],
    'Time that the event loop of a worker was active, and idle. Worker 0 is the main thread.',
    ({ workers }) =>
      workers.telemetry.figures
        .entries()
        .flatMap(([index, { eventLoop }]) =>
          Object.entries(eventLoop).map(([state, ms]) => [String(index), state, ms / 1_000] as const),
        ),
  ),
};

/** The metrics in the order of their table, with their names and types. */
export const METRICS = Object.entries(TABLE).map(([name, entry]) => ({
  ...entry,
  name,
  type: entry.type ?? (name.endsWith('_total') ? 'counter' : 'gauge'),
}));

/** Returns the rows of each token method, with its name. A manifest with one method has no name for it. */
function ofMethods(rowsOf: (status: VerifierStatus) => Iterable<readonly [string, number]>) {
  return ({ gateway }: AdminContext) =>
    (gateway.plan.auth?.verifier.methods ?? []).flatMap(({ name = '', status }) =>
      [...rowsOf(status)].map(([result, value]) => [result, name, value] as const),
    );
}
