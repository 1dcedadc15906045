import type { AdminContext } from '../admin-endpoint.ts';
import { histogram, type Metric, metric, metricBy } from './metric.ts';

/** Metrics of upstreams, their endpoints, and the DNS lookups of their host names. */
export const UPSTREAM_METRICS: readonly Metric[] = [
  endpointStates(
    'upstream_endpoint_health',
    '1 for the current health of an endpoint: "unknown", "healthy" or "unhealthy".',
    ['unknown', 'healthy', 'unhealthy'],
    ({ health }) => health,
  ),
  endpointStates(
    'upstream_breaker_state',
    '1 for the current state of the circuit breaker of an endpoint.',
    ['closed', 'half-open', 'open'],
    ({ breaker }) => breaker,
  ),
  endpointMetric(
    'upstream_breaker_openings_total',
    'How often the circuit breaker of an endpoint opened.',
    ({ breakerOpenings }) => breakerOpenings,
  ),
  endpointMetric(
    'upstream_abandoned_total',
    'Exchanges whose client disconnected before the endpoint responded.',
    ({ abandoned }) => abandoned,
  ),
  upstreamMetric(
    'upstream_panic',
    '1 while the default circuit breakers of all endpoints are open, so that requests go to all of them.',
    ({ panic }) => Number(panic),
  ),
  endpointMetric(
    'upstream_connections',
    'Connections to an endpoint, including those that are being opened.',
    ({ connections }) => connections,
  ),
  endpointMetric('upstream_connections_busy', 'Connections to an endpoint that carry a request.', ({ busy }) => busy),
  upstreamMetric('upstream_queue', 'Requests that wait for a connection.', ({ waiting }) => waiting),
  upstreamMetric('upstream_retries_total', 'Retried requests.', ({ retries }) => retries),
  metricBy(['result'], 'dns_lookups_total', 'DNS lookups, by result.', ({ workers }) =>
    Object.entries(workers.telemetry.totals.dns.outcomes),
  ),
  histogram(
    [],
    'dns_lookup_duration_seconds',
    'Time of a DNS lookup on the network, including all search domains.',
    ({ gateway, workers }) => {
      const { buckets, sumMs } = workers.telemetry.totals.dns;
      return [[{ counts: buckets, sumMs, boundsMs: gateway.resolver.counts.boundsMs }]];
    },
  ),
  metric('dns_lookups_in_flight', 'DNS lookups in progress.', ({ workers }) => workers.telemetry.totals.dns.inFlight),
  metric('dns_failing_names', 'Host names whose last lookup failed.', ({ gateway }) => gateway.resolver.failingNames),
  metric(
    'dns_stale_addresses_served_total',
    'Connections opened to addresses whose time to live had expired, because a newer lookup had not succeeded yet.',
    ({ workers }) => workers.telemetry.totals.dns.stale,
  ),
];

type UpstreamStatus = AdminContext['gateway']['upstreams'][number];
type EndpointStatus = UpstreamStatus['endpoints'][number];

function upstreamMetric(name: string, help: string, read: (upstream: UpstreamStatus) => number): Metric {
  return metricBy(['upstream'], name, help, ({ gateway }) =>
    gateway.upstreams.map((upstream) => [upstream.id, read(upstream)]),
  );
}

function endpointMetric(name: string, help: string, read: (endpoint: EndpointStatus) => number): Metric {
  return metricBy(['upstream', 'endpoint'], name, help, ({ gateway }) =>
    gateway.upstreams.flatMap(({ id, endpoints }) =>
      endpoints.map((endpoint) => [id, endpoint.url, read(endpoint)] as const),
    ),
  );
}

/** Returns a metric with one series for each state of an endpoint: 1 for the current one. @param read `null` for no series */
function endpointStates(
  name: string,
  help: string,
  states: readonly string[],
  read: (endpoint: EndpointStatus) => string | null,
): Metric {
  return metricBy(['upstream', 'endpoint', 'state'], name, help, ({ gateway }) =>
    gateway.upstreams.flatMap(({ id, endpoints }) =>
      endpoints
        .filter((endpoint) => read(endpoint) !== null)
        .flatMap((endpoint) =>
          states.map((state) => [id, endpoint.url, state, Number(state === read(endpoint))] as const),
        ),
    ),
  );
}
