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

/** All metrics of the gateway's own. No label is ever made of what a client wrote. */
export const METRICS: readonly Metric[] = [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Requests that ended, by route, method and class of the status; "none" where the client left before there was an answer.',
    labels: ['route', 'method', 'status'],
    *collect({ gateway }) {
      for (const [route, meter] of gateway.metrics.routes)
        for (const { count, ...labels } of meter.requests) yield { labels: { route, ...labels }, value: count };
    },
  },
  routeDurations('request_duration_seconds', "From a request's head to the end of its answer."),
  upstreamDurations(
    'gateway',
    'gateway_duration_seconds',
    "From a request's head until it was sent on, its body read where it is checked; or until it was refused.",
  ),
  upstreamDurations(
    'upstream',
    'upstream_duration_seconds',
    "From a request's turn until the upstream's answer had begun; at login, until it was whole.",
  ),
  gauge(
    'requests_in_flight',
    'Requests that have begun and not ended, tunnels too.',
    ({ gateway }) => gateway.metrics.inFlight,
  ),
  gauge('client_connections', 'Open connections of clients.', ({ gateway }) => gateway.clients.connections),
  gauge('tunnels', 'Connections that a WebSocket handshake came on.', ({ gateway }) => gateway.clients.tunnels),
  {
    name: 'refusals_total',
    type: 'counter',
    help: 'Requests that the gateway refused, by the code of docs/errors.md.',
    labels: ['code'],
    *collect({ gateway }) {
      for (const [code, value] of gateway.metrics.refusals) yield { labels: { code }, value };
    },
  },
  {
    name: 'validation_reports_total',
    type: 'counter',
    help: 'Requests that `validation: report` let through and `enforce` would have refused.',
    labels: ['route'],
    *collect({ gateway }) {
      for (const [route, value] of gateway.metrics.reportedRequests) yield { labels: { route }, value };
    },
  },
  ...VALIDATION_METRICS,
  endpointMetric(
    'upstream_endpoint_healthy',
    'gauge',
    '1 while the health check of an endpoint passes, or where it has none.',
    (endpoint) => Number(endpoint.healthy ?? true),
  ),
  {
    name: 'upstream_breaker_state',
    type: 'gauge',
    help: "1 for the state of an endpoint's circuit breaker.",
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
    "Times that an endpoint's circuit breaker opened.",
    (endpoint) => endpoint.breakerOpenings,
  ),
  endpointMetric(
    'upstream_abandoned_total',
    'counter',
    'Exchanges without a response, whose client left while the gateway waited for the endpoint.',
    (endpoint) => endpoint.abandoned,
  ),
  upstreamMetric(
    'upstream_panic',
    'gauge',
    '1 while the default breakers of all endpoints are open, so that requests go to all of them.',
    (upstream) => Number(upstream.panic),
  ),
  endpointMetric(
    'upstream_connections',
    'gauge',
    'Connections to an endpoint, including those being opened.',
    (endpoint) => endpoint.connections,
  ),
  endpointMetric(
    'upstream_connections_busy',
    'gauge',
    'Connections to an endpoint that carry a request.',
    (endpoint) => endpoint.busy,
  ),
  upstreamMetric('upstream_queue', 'gauge', 'Requests that wait for a connection.', (upstream) => upstream.waiting),
  upstreamMetric(
    'upstream_retries_total',
    'counter',
    'Requests that were sent once more.',
    (upstream) => upstream.retries,
  ),
  {
    name: 'dns_lookups_total',
    type: 'counter',
    help: 'Look-ups of host names, by result.',
    labels: ['result'],
    *collect({ gateway }) {
      for (const [result, value] of Object.entries(gateway.resolver.counts.outcomes))
        yield { labels: { result }, value };
    },
  },
  lookupDurations('dns_lookup_duration_seconds', 'Time of a look-up on the network, all search domains together.'),
  gauge('dns_lookups_in_flight', 'Look-ups in progress or in the queue.', ({ gateway }) => gateway.resolver.inFlight),
  gauge('dns_failing_names', 'Host names whose last look-up failed.', ({ gateway }) => gateway.resolver.failingNames),
  {
    name: 'dns_stale_addresses_served_total',
    type: 'counter',
    help: 'Connections opened to addresses whose time to live was over, since no newer ones were known yet.',
    labels: [],
    collect: ({ gateway }) => [{ labels: {}, value: gateway.resolver.counts.stale }],
  },
  {
    name: 'token_cache_total',
    type: 'counter',
    help: 'Tokens that were looked up among those verified before.',
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
    'Tokens that are remembered as good.',
    ({ gateway }) => gateway.plan.auth?.verifier.status.good ?? 0,
  ),
  {
    name: 'token_verifications_total',
    type: 'counter',
    help: 'What came of tokens that were not remembered: "good", or why one was not accepted, as in docs/log.md.',
    labels: ['result'],
    *collect({ gateway: { plan } }) {
      for (const [result, value] of plan.auth?.verifier.status.verdicts ?? []) yield { labels: { result }, value };
    },
  },
  {
    name: 'key_fetches_total',
    type: 'counter',
    help: "Questions for the issuer's keys (JWKS), by whether there was an answer.",
    labels: ['result'],
    *collect({ gateway: { plan } }) {
      const status = plan.auth?.verifier.status;
      if (status === undefined || status.keys === 'none') return;
      yield { labels: { result: 'ok' }, value: status.fetched };
      yield { labels: { result: 'failed' }, value: status.unfetched };
    },
  },
  {
    name: 'readiness',
    type: 'gauge',
    help: '1 for what /readyz says.',
    labels: ['status'],
    *collect(operated) {
      const now = readinessOf(operated).status;
      for (const status of READINESS_STATUSES) yield { labels: { status }, value: Number(status === now) };
    },
  },
  {
    name: 'config_info',
    type: 'gauge',
    help: '1, for the SHA-256 of the manifest in force.',
    labels: ['hash', 'version'],
    *collect({ gateway, version }) {
      yield { labels: { hash: gateway.plan.hash, version }, value: 1 };
    },
  },
  {
    name: 'config_reloads_total',
    type: 'counter',
    help: 'Attempts to take over what was saved, by what came of them ("loaded", "kept", "unreadable") and what asked for them.',
    labels: ['result', 'cause'],
    *collect({ reloader }) {
      for (const { kind, cause, count } of reloader.counts) yield { labels: { result: kind, cause }, value: count };
    },
  },
  gauge(
    'config_last_reload_successful',
    'Whether the manifest in force is the saved one: 0 after an attempt that failed.',
    ({ reloader }) => Number(!['rejected', 'unreadable'].includes(reloader.lastOutcome?.kind ?? 'accepted')),
  ),
  gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the manifest in force was taken over, in seconds since 1970.',
    ({ reloader }) => reloader.lastActivatedAt.getTime() / 1_000,
  ),
  gauge(
    'config_hung_threads',
    'Threads that wait for the system while they read files, as on a mount that does not respond.',
    ({ reloader }) => reloader.hungThreadCount,
  ),
  {
    name: 'certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When a certificate of the manifest expires, in seconds since 1970: "server", "admin", or what an upstream is shown.',
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
  const shown = upstreams.map(({ id, tls }) => ({ use: 'upstream', upstream: id, cert: tls().cert }));
  return [...own, ...shown].flatMap(({ cert, ...labels }) => (cert === undefined ? [] : [{ ...labels, cert }]));
}
