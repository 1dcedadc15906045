import { X509Certificate } from 'node:crypto';
import type { Plan } from '../../engine/plan/plan.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { READINESS_STATUSES, readinessOf } from '../endpoints/health.ts';
import { CANDIDATE_METRICS } from './candidate-metrics.ts';
import { LOSS_METRICS } from './loss-metrics.ts';
import { counterBy, gauge, gaugeBy, type Metric, routeDurations, upstreamDurations } from './metric.ts';
import { RATE_LIMIT_METRICS } from './rate-limit-metrics.ts';
import { UPSTREAM_METRICS } from './upstream-metrics.ts';
import { VALIDATION_METRICS } from './validation-metrics.ts';
import { WORKER_METRICS } from './worker-metrics.ts';

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
  counterBy(
    'code',
    'refusals_total',
    'Refused requests, by code (docs/errors.md).',
    ({ gateway }) => gateway.metrics.refusals,
  ),
  counterBy(
    'route',
    'validation_reports_total',
    'Forwarded requests with violations that `validation: enforce` would have refused.',
    ({ gateway }) => gateway.metrics.reportedRequests,
  ),
  ...RATE_LIMIT_METRICS,
  ...VALIDATION_METRICS,
  ...UPSTREAM_METRICS,
  counterBy('result', 'token_cache_total', 'Token lookups in the cache of verified tokens, by result.', (context) => {
    const status = verifierStatus(context);
    return status === undefined ? [] : Object.entries({ hit: status.hits, miss: status.misses });
  }),
  gauge(
    'token_cache_entries',
    'Valid tokens in the cache. With several workers, a JWT counts once for each worker that has verified it.',
    (context) => verifierStatus(context)?.entries ?? 0,
  ),
  counterBy(
    'result',
    'token_verifications_total',
    'Verifications of tokens that were not cached, by result: "valid", or the reason of the refusal (docs/log.md).',
    (context) => verifierStatus(context)?.results ?? [],
  ),
  counterBy('result', 'key_fetches_total', 'Fetches of the keys of the issuer (JWKS), by result.', (context) => {
    const status = verifierStatus(context);
    if (status === undefined || status.keys === 'none') return [];
    return Object.entries({ ok: status.fetches, failed: status.failedFetches });
  }),
  gaugeBy('status', 'readiness', '1 for the status that /readyz reports.', (context) => {
    const current = readinessOf(context).status;
    return READINESS_STATUSES.map((status) => [status, Number(status === current)]);
  }),
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
  ...CANDIDATE_METRICS,
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
  ...WORKER_METRICS,
];

function verifierStatus({ gateway: { plan } }: AdminContext) {
  return plan.auth?.verifier.status;
}

function certificatesOf({ server, admin, upstreams }: Plan): { use: string; upstream: string; cert: string }[] {
  const own = Object.entries({ server: server.tls, admin: admin?.tls }).map(([use, tls]) => ({
    use,
    upstream: '',
    cert: tls?.pem().cert,
  }));
  const clients = upstreams.map(({ id, tls }) => ({ use: 'upstream', upstream: id, cert: tls().cert }));
  return [...own, ...clients].flatMap(({ cert, ...labels }) => (cert === undefined ? [] : [{ ...labels, cert }]));
}
