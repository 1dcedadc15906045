import type { AdminContext } from '../admin-endpoint.ts';
import { histogram, type MetricEntry, type MetricTable, metric, metricBy } from './metric.ts';

/** Metrics of upstreams, their endpoints, and the DNS lookups of their host names. */
export const UPSTREAM_METRICS: MetricTable = {
  upstream_endpoint_health: endpointStates(
    '1 for the current health of an endpoint: "unknown", "healthy" or "unhealthy".',
    ['unknown', 'healthy', 'unhealthy'],
    ({ health }) => health,
  ),
  upstream_breaker_state: endpointStates(
    '1 for the current state of the circuit breaker of an endpoint.',
    ['closed', 'half-open', 'open'],
    ({ breaker }) => breaker,
  ),
  upstream_breaker_openings_total: endpointMetric(
    'How often the circuit breaker of an endpoint opened.',
    ({ breakerOpenings }) => breakerOpenings,
  ),
  upstream_abandoned_total: endpointMetric(
    'Exchanges whose client disconnected before the endpoint responded.',
    ({ abandoned }) => abandoned,
  ),
  upstream_panic: upstreamMetric(
    '1 while the default circuit breakers of all endpoints are open, so that requests go to all of them.',
    ({ panic }) => Number(panic),
  ),
  upstream_connections: endpointMetric(
    'Connections to an endpoint, including those that are being opened.',
    ({ connections }) => connections,
  ),
  upstream_connections_busy: endpointMetric('Connections to an endpoint that carry a request.', ({ busy }) => busy),
  upstream_queue: upstreamMetric('Requests that wait for a connection.', ({ waiting }) => waiting),
  upstream_retries_total: upstreamMetric('Retried requests.', ({ retries }) => retries),
  dns_lookups_total: metricBy(['result'], 'DNS lookups, by result.', ({ workers }) =>
    Object.entries(workers.telemetry.totals.dns.outcomes),
  ),
  dns_lookup_duration_seconds: histogram(
    [],
    'Time of a DNS lookup on the network, including all search domains.',
    ({ gateway, workers }) => {
      const { buckets, sumMs } = workers.telemetry.totals.dns;
      return [[{ counts: buckets, sumMs, boundsMs: gateway.resolver.counts.boundsMs }]];
    },
  ),
  dns_lookups_in_flight: metric('DNS lookups in progress.', ({ workers }) => workers.telemetry.totals.dns.inFlight),
  dns_failing_names: metric('Host names whose last lookup failed.', ({ gateway }) => gateway.resolver.failingNames),
  dns_stale_addresses_served_total: metric(
    'Connections opened to addresses whose time to live had expired, because a newer lookup had not succeeded yet.',
    ({ workers }) => workers.telemetry.totals.dns.stale,
  ),
};

type UpstreamStatus = AdminContext['gateway']['upstreams'][number];
type EndpointStatus = UpstreamStatus['endpoints'][number];

function upstreamMetric(help: string, read: (upstream: UpstreamStatus) => number): MetricEntry {
  return metricBy(['upstream'], help, ({ gateway }) =>
    gateway.upstreams.map((upstream) => [upstream.id, read(upstream)]),
  );
}

function endpointMetric(help: string, read: (endpoint: EndpointStatus) => number): MetricEntry {
  return metricBy(['upstream', 'endpoint'], help, ({ gateway }) =>
    gateway.upstreams.flatMap(({ id, endpoints }) =>
      endpoints.map((endpoint) => [id, endpoint.url, read(endpoint)] as const),
    ),
  );
}

/** Returns a metric with one series for each state of an endpoint: 1 for the current one. @param read `null` for no series */
function endpointStates(
  help: string,
  states: readonly string[],
  read: (endpoint: EndpointStatus) => string | null,
): MetricEntry {
  return metricBy(['upstream', 'endpoint', 'state'], help, ({ gateway }) =>
    gateway.upstreams.flatMap(({ id, endpoints }) =>
      endpoints
        .filter((endpoint) => read(endpoint) !== null)
        .flatMap((endpoint) =>
          states.map((state) => [id, endpoint.url, state, Number(state === read(endpoint))] as const),
        ),
    ),
  );
}
