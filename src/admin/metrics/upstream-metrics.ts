import { HEALTH_STATES } from '../../engine/gateway/upstream/upstream-status.ts';
import {
  counter,
  counterBy,
  endpointMetric,
  endpointStates,
  gauge,
  lookupDurations,
  type Metric,
  upstreamMetric,
} from './metric.ts';

/** Metrics of upstreams, their endpoints, and the DNS lookups of their host names. */
export const UPSTREAM_METRICS: readonly Metric[] = [
  endpointStates(
    'upstream_endpoint_health',
    '1 for the current health of an endpoint: "unknown", "healthy" or "unhealthy".',
    HEALTH_STATES,
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
    'counter',
    'How often the circuit breaker of an endpoint opened.',
    (endpoint) => endpoint.breakerOpenings,
  ),
  endpointMetric(
    'upstream_abandoned_total',
    'counter',
    'Exchanges whose client disconnected before the endpoint responded.',
    (endpoint) => endpoint.abandoned,
  ),
  upstreamMetric(
    'upstream_panic',
    'gauge',
    '1 while the default circuit breakers of all endpoints are open, so that requests go to all of them.',
    (upstream) => Number(upstream.panic),
  ),
  endpointMetric(
    'upstream_connections',
    'gauge',
    'Connections to an endpoint, including those that are being opened.',
    (endpoint) => endpoint.connections,
  ),
  endpointMetric(
    'upstream_connections_busy',
    'gauge',
    'Connections to an endpoint that carry a request.',
    (endpoint) => endpoint.busy,
  ),
  upstreamMetric('upstream_queue', 'gauge', 'Requests that wait for a connection.', (upstream) => upstream.waiting),
  upstreamMetric('upstream_retries_total', 'counter', 'Retried requests.', (upstream) => upstream.retries),
  counterBy('result', 'dns_lookups_total', 'DNS lookups, by result.', ({ workers }) =>
    Object.entries(workers.telemetry.totals.dns.outcomes),
  ),
  lookupDurations('dns_lookup_duration_seconds', 'Time of a DNS lookup on the network, including all search domains.'),
  gauge(
    'dns_lookups_in_flight',
    'DNS lookups in progress or in the queue.',
    ({ workers }) => workers.telemetry.totals.dns.inFlight,
  ),
  gauge('dns_failing_names', 'Host names whose last lookup failed.', ({ gateway }) => gateway.resolver.failingNames),
  counter(
    'dns_stale_addresses_served_total',
    'Connections opened to addresses whose time to live had expired, because a newer lookup had not succeeded yet.',
    ({ workers }) => workers.telemetry.totals.dns.stale,
  ),
];
