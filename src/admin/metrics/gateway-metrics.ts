import { X509Certificate } from 'node:crypto';
import type { Plan } from '../../plan/plan.ts';
import { READINESS_STATUSES, readinessOf } from '../endpoints/health.ts';
import { LOSS_METRICS } from './loss-metrics.ts';
import {
  endpointMetric,
  gauge,
  lookupDurations,
  type Metric,
  routeDurations,
  upstreamDurations,
  upstreamMetric,
} from './metric.ts';
import { VALIDATION_METRICS } from './validation-metrics.ts';

/** The metrics of the gateway. No label contains text from a client, which could create any number of series. */
export const METRICS: readonly Metric[] = [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Completed requests, by route, method and status class; "none" if the client disconnected before the response began.',
    labels: ['route', 'method', 'status'],
    *collect({ gateway }) {
      for (const [route, metrics] of gateway.metrics.routes)
        for (const { count, ...labels } of metrics.requests) yield { labels: { route, ...labels }, value: count };
    },
  },
  routeDurations('request_duration_seconds', 'Time from the request head to the end of the response.'),
  upstreamDurations(
    'gateway',
    'gateway_duration_seconds',
    'Time from the request head until the gateway forwarded or refused the request, including reading a validated body.',
  ),
  upstreamDurations(
    'upstream',
    'upstream_duration_seconds',
    'Time from the start of the upstream request until the response began; for a login, until it was complete.',
  ),
  gauge('requests_in_flight', 'Requests in progress, including tunnels.', ({ gateway }) => gateway.metrics.inFlight),
  gauge('client_connections', 'Open connections of clients.', ({ gateway }) => gateway.clients.connections),
  gauge('tunnels', 'Connections that carry a WebSocket.', ({ gateway }) => gateway.clients.tunnels),
  {
    name: 'refusals_total',
    type: 'counter',
    help: 'Refused requests, by code (docs/errors.md).',
    labels: ['code'],
    *collect({ gateway }) {
      for (const [code, value] of gateway.metrics.refusals) yield { labels: { code }, value };
    },
  },
  {
    name: 'validation_reports_total',
    type: 'counter',
    help: 'Forwarded requests with violations that `validation: enforce` would have refused.',
    labels: ['route'],
    *collect({ gateway }) {
      for (const [route, value] of gateway.metrics.reportedRequests) yield { labels: { route }, value };
    },
  },
  ...VALIDATION_METRICS,
  endpointMetric(
    'upstream_endpoint_healthy',
    'gauge',
    '1 while the health check of an endpoint passes, or if it has no health check.',
    (endpoint) => Number(endpoint.healthy ?? true),
  ),
  {
    name: 'upstream_breaker_state',
    type: 'gauge',
    help: '1 for the current state of the circuit breaker of an endpoint.',
    labels: ['upstream', 'endpoint', 'state'],
    *collect({ gateway }) {
      for (const { id, endpoints } of gateway.upstreams)
        for (const { url, breaker } of endpoints)
          for (const state of breaker === null ? [] : ['closed', 'half-open', 'open'])
            yield { labels: { upstream: id, endpoint: url, state }, value: Number(breaker === state) };
    },
  },
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
  {
    name: 'dns_lookups_total',
    type: 'counter',
    help: 'DNS lookups, by result.',
    labels: ['result'],
    *collect({ gateway }) {
      for (const [result, value] of Object.entries(gateway.resolver.counts.outcomes))
        yield { labels: { result }, value };
    },
  },
  lookupDurations('dns_lookup_duration_seconds', 'Time of a DNS lookup on the network, including all search domains.'),
  gauge(
    'dns_lookups_in_flight',
    'DNS lookups in progress or in the queue.',
    ({ gateway }) => gateway.resolver.inFlight,
  ),
  gauge('dns_failing_names', 'Host names whose last lookup failed.', ({ gateway }) => gateway.resolver.failingNames),
  {
    name: 'dns_stale_addresses_served_total',
    type: 'counter',
    help: 'Connections opened to addresses whose time to live had expired, because a newer lookup had not succeeded yet.',
    labels: [],
    collect: ({ gateway }) => [{ labels: {}, value: gateway.resolver.counts.stale }],
  },
  {
    name: 'token_cache_total',
    type: 'counter',
    help: 'Token lookups in the cache of verified tokens, by result.',
    labels: ['result'],
    *collect({ gateway: { plan } }) {
      const status = plan.auth?.verifier.status;
      if (status === undefined) return;
      yield { labels: { result: 'hit' }, value: status.hits };
      yield { labels: { result: 'miss' }, value: status.misses };
    },
  },
  gauge(
    'token_cache_entries',
    'Valid tokens in the cache.',
    ({ gateway }) => gateway.plan.auth?.verifier.status.entries ?? 0,
  ),
  {
    name: 'token_verifications_total',
    type: 'counter',
    help: 'Verifications of tokens that were not cached, by result: "valid", or the reason of the refusal (docs/log.md).',
    labels: ['result'],
    *collect({ gateway: { plan } }) {
      for (const [result, value] of plan.auth?.verifier.status.results ?? []) yield { labels: { result }, value };
    },
  },
  {
    name: 'key_fetches_total',
    type: 'counter',
    help: 'Fetches of the keys of the issuer (JWKS), by result.',
    labels: ['result'],
    *collect({ gateway: { plan } }) {
      const status = plan.auth?.verifier.status;
      if (status === undefined || status.keys === 'none') return;
      yield { labels: { result: 'ok' }, value: status.fetches };
      yield { labels: { result: 'failed' }, value: status.failedFetches };
    },
  },
  {
    name: 'readiness',
    type: 'gauge',
    help: '1 for the status that /readyz reports.',
    labels: ['status'],
    *collect(context) {
      const current = readinessOf(context).status;
      for (const status of READINESS_STATUSES) yield { labels: { status }, value: Number(status === current) };
    },
  },
  {
    name: 'config_info',
    type: 'gauge',
    help: '1, with the SHA-256 of the active manifest.',
    labels: ['hash', 'version'],
    *collect({ gateway, version }) {
      yield { labels: { hash: gateway.plan.hash, version }, value: 1 };
    },
  },
  {
    name: 'config_reloads_total',
    type: 'counter',
    help: 'Reloads that found a change, by result ("accepted", "rejected", "unreadable") and cause.',
    labels: ['result', 'cause'],
    *collect({ reloader }) {
      for (const { kind, cause, count } of reloader.counts) yield { labels: { result: kind, cause }, value: count };
    },
  },
  gauge('config_last_reload_successful', '1 if the last reload succeeded, 0 if it failed.', ({ reloader }) =>
    Number(!['rejected', 'unreadable'].includes(reloader.lastOutcome?.kind ?? 'accepted')),
  ),
  gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the active manifest was activated, in seconds since the Unix epoch.',
    ({ reloader }) => reloader.lastActivatedAt.getTime() / 1_000,
  ),
  gauge(
    'config_hung_threads',
    'Threads that wait for a file system that does not respond.',
    ({ reloader }) => reloader.hungThreadCount,
  ),
  {
    name: 'certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When a certificate of the manifest expires, in seconds since the Unix epoch, by use: "server", "admin", or "upstream" for a client certificate.',
    labels: ['use', 'upstream'],
    *collect({ gateway: { plan } }) {
      for (const { use, upstream, cert } of certificatesOf(plan))
        yield { labels: { use, upstream }, value: new X509Certificate(cert).validToDate.getTime() / 1_000 };
    },
  },
  ...LOSS_METRICS,
];

function certificatesOf({ server, admin, upstreams }: Plan): { use: string; upstream: string; cert: string }[] {
  const own = Object.entries({ server: server.tls, admin: admin?.tls }).map(([use, tls]) => ({
    use,
    upstream: '',
    cert: tls?.pem().cert,
  }));
  const clients = upstreams.map(({ id, tls }) => ({ use: 'upstream', upstream: id, cert: tls().cert }));
  return [...own, ...clients].flatMap(({ cert, ...labels }) => (cert === undefined ? [] : [{ ...labels, cert }]));
}
