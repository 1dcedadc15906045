import { isLoopback, isProtectedInTransit } from '../../../engine/dns/loopback.ts';
import { durationMs } from '../../../engine/manifest/units.ts';
import { tokenEntries } from '../../../engine/tokens/token-entries.ts';
import { upstreamsOf } from '../lint-context.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

const TIMEOUT_LIMITS = { connect: '10s', response: '2m', idle: '5m' } as const;

export const UPSTREAM_RULES = rulesOf('upstreams', {
  'breaker-failures-low': {
    level: ['info', 'strict'],
    rationale:
      'A single lost connection, common during deployments, ejects the endpoint for the full duration of the pause.',
    at: ['breaker', 'failures'],
    upstream: ({ upstream }) => upstream.breaker?.failures === 1 && 'one failure ejects the endpoint; write 3 or more',
  },
  'upstream-connections-few': {
    level: ['warning', 'recommended'],
    rationale:
      'A connection belongs to one worker. If an endpoint allows fewer connections than there are workers, they close idle connections for each other, and requests wait for new ones.',
    at: ['connections', 'limit'],
    upstream: ({ upstream: { connectionLimit } }, { plan: { server } }) => {
      const { workers } = server;
      // With `auto` the number depends on the machine.
      const isLess = workers !== 'auto' && connectionLimit < workers;
      const message = `this is less than the ${workers} workers, which must then close connections for each other`;
      return isLess && `${message}; write at least ${workers}, or use fewer workers`;
    },
  },
  'upstream-endpoint-twice': {
    level: ['warning', 'minimal'],
    rationale:
      'An endpoint that is listed twice receives twice its share of requests, and counts as two failed endpoints when it fails.',
    *find(context) {
      for (const { endpoints } of upstreamsOf(context)) {
        const seen = new Map<string, (typeof endpoints)[number]>();
        for (const endpoint of endpoints) {
          const first = seen.get(endpoint.url.href);
          if (first === undefined) seen.set(endpoint.url.href, endpoint);
          else
            yield findingAt(endpoint.path, 'this endpoint is already in the list, in another spelling; remove one', {
              related: { path: first.path, message: 'the first entry' },
              fix: { change: 'remove', path: endpoint.path },
            });
        }
      }
    },
  },
  'upstream-loop': {
    level: ['warning', 'minimal'],
    rationale:
      'The gateway would send requests to itself until no connection is left, or expose the admin API to clients.',
    *find(context) {
      const { listen, admin } = context.plan;
      for (const { endpoints } of upstreamsOf(context))
        for (const { url, path } of endpoints) {
          const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
          const isSocket = url.protocol === 'unix:' && url.pathname === listen.socket?.path;
          const isClients = isSocket || port === listen.port;
          const key = isClients ? 'listen' : port === admin?.port ? 'admin' : undefined;
          const host = (key === 'admin' ? admin?.host : listen.host) ?? '';
          const isAny = isLoopback(host) || host === '0.0.0.0' || host === '::';
          if (key !== undefined && port !== 0 && (isSocket || (isLoopback(url.hostname) && isAny)))
            yield findingAt(path, `this is the "${key}" address of the gateway; write the address of the service`, {
              related: { path: [key], message: 'the address of the gateway' },
            });
        }
    },
  },
  'upstream-plain-http': {
    level: ['warning', 'recommended'],
    rationale:
      'Over plain HTTP anyone on the network path can read requests and responses, and use the tokens that the gateway forwards.',
    *find(context) {
      const subject = context.manifest.auth === undefined ? 'requests' : 'tokens';
      for (const { endpoints } of upstreamsOf(context))
        for (const { url, path } of endpoints) {
          if (isProtectedInTransit(url)) continue;
          const suggested = context.secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
          yield findingAt(path, `${subject} cross the network in plain text; write ${suggested}`);
        }
    },
  },
  'upstream-retry-off': {
    level: ['info', 'recommended'],
    rationale:
      'If an endpoint refuses a connection, nothing was sent and another endpoint could serve the request; without "retry" the client gets a 502 response.',
    at: ['retry'],
    upstream: ({ entry, endpoints }) =>
      endpoints.length > 1 &&
      !entry.retry &&
      'requests fail although another endpoint could serve them; remove "retry": the gateway never sends a write twice',
  },
  'upstream-timeout-long': {
    level: ['warning', 'recommended'],
    rationale:
      'While an upstream hangs, each request holds a connection for this long, so all connections are in use before the failure is visible.',
    *find(context) {
      for (const { path, entry } of upstreamsOf(context))
        for (const [step, limit] of Object.entries(TIMEOUT_LIMITS)) {
          const configured = entry.timeouts[step as keyof typeof TIMEOUT_LIMITS];
          if (durationMs(configured) <= durationMs(limit)) continue;
          const remedy = step === 'response' ? ', and add timeout: to the routes that need more' : '';
          yield findingAt(
            [...path, 'timeouts', step],
            `${configured} is longer than clients wait; write ${limit} or less${remedy}`,
          );
        }
    },
  },
  'upstream-timeout-order': {
    level: ['warning', 'recommended'],
    rationale:
      'A timeout that is longer than an enclosing one never applies, so the manifest promises something that cannot happen.',
    *find(context) {
      for (const { path, entry, upstream } of upstreamsOf(context)) {
        const { connectTimeoutMs, responseTimeoutMs, totalTimeoutMs = Number.POSITIVE_INFINITY, health } = upstream;
        const { connect, response } = entry.timeouts;
        if (totalTimeoutMs <= connectTimeoutMs)
          yield findingAt(
            [...path, 'timeouts', 'total'],
            `"total" expires before "connect" (${connect}); write more than that`,
          );
        else if (totalTimeoutMs < responseTimeoutMs)
          yield findingAt(
            [...path, 'timeouts', 'total'],
            `"total" expires before "response" (${response}); write more than that, or lower "response"`,
          );
        if (health !== undefined && health.timeoutMs > health.intervalMs)
          yield findingAt(
            [...path, 'health', 'timeout'],
            `the next health check starts (${entry.health?.interval}) before this one times out; write at most "interval"`,
          );
      }
      for (const { entry, route, path } of context.routes) {
        if (route.timeoutMs === undefined || route.timeoutMs > (route.upstream?.connectTimeoutMs ?? 0)) continue;
        const { connect } = context.manifest.upstreams[entry.upstream ?? '']?.timeouts ?? {};
        yield findingAt(
          [...path, 'timeout'],
          `this expires before "connect" of "${entry.upstream}" (${connect}); write more than that`,
        );
      }
    },
  },
  'upstream-unused': {
    level: ['warning', 'recommended'],
    rationale:
      'An upstream without routes is obsolete, or its routes are missing; the gateway still checks its health.',
    *find({ manifest, routes }) {
      const used = new Set(routes.map(({ entry }) => entry.upstream));
      for (const { entry } of tokenEntries(manifest.auth))
        if ('endpoint' in entry && typeof entry.endpoint === 'object') used.add(entry.endpoint.upstream);
      for (const id of Object.keys(manifest.upstreams))
        if (!used.has(id))
          yield findingAtKey(['upstreams', id], `no route uses the upstream "${id}"; add one, or remove it`);
    },
  },
  'upstream-without-breaker': {
    level: ['info', 'recommended'],
    rationale: 'Only a breaker ejects an endpoint that passes its health check and fails every request.',
    at: ['breaker', 'enabled'],
    upstream: ({ entry, endpoints }) =>
      endpoints.length > 1 &&
      entry.breaker?.enabled === false &&
      'an endpoint that fails every request is not ejected; remove enabled: false',
  },
  'upstream-without-health': {
    level: ['warning', 'recommended'],
    rationale:
      'Without health checks a failed endpoint still receives its share of the requests, and each of them waits until it fails.',
    atKey: ['urls'],
    upstream: ({ entry, endpoints }) =>
      endpoints.length > 1 &&
      entry.health === undefined &&
      'these endpoints have no health check; add health: { path: /healthz }',
  },
});
