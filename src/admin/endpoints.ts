import { streamOpenApi } from '../openapi/export/stream-openapi.ts';
import { type AdminEndpoint, busyResponse, largeJsonResponse, problemDetails, type Respond } from './admin-endpoint.ts';
import { candidate, discardCandidate, putCandidate } from './endpoints/candidate.ts';
import { explain } from './endpoints/explain.ts';
import { livez, readyz } from './endpoints/health.ts';
import { manifest } from './endpoints/manifest.ts';
import { reload } from './endpoints/reload.ts';
import { route, routes } from './endpoints/route.ts';
import { status } from './endpoints/status.ts';
import { recentTraffic, trafficHistory } from './endpoints/traffic.ts';
import { PAGE_ENDPOINTS } from './page.ts';
import { parseFilter } from './request-event-filter.ts';

/** Responds to a scrape. The Prometheus library is loaded during the warm-up, so that the gateway listens sooner. */
const metrics: Respond = async (_request, context) => {
  const { renderMetrics, CONTENT_TYPE } = await import('./metrics/prometheus-renderer.ts');
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await renderMetrics(context) };
};

/** Describes the active routes as OpenAPI 3.1: parameters, bodies, roles and refusals. */
const openapi: Respond = (_request, { activeManifest, version }) =>
  largeJsonResponse(streamOpenApi(activeManifest(), version));

/**
 * Streams one server-sent event `decision` for each request when it ends, and `skipped` events with the number of
 * decisions beyond the rate limit. `?filter=` selects decisions that contain all its words; `?only=refused` selects
 * refused requests, `?only=failed` those with a 5xx response.
 */
const decisions: Respond = ({ query, peerAddress }, { adminMetrics }, { eventStreams }) => {
  const filter = parseFilter(query);
  if (typeof filter === 'string') return problemDetails(400, filter);
  if (!eventStreams.hasCapacityFor(peerAddress))
    return busyResponse(adminMetrics, '/decisions', 'too many streams of decisions are open; close another stream', 5);
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream' },
    body: (response) => eventStreams.open(filter, peerAddress, response),
  };
};

export const ADMIN_ENDPOINTS: readonly AdminEndpoint[] = [
  // Probes of container platforms have no token.
  { method: 'GET', path: '/livez', isPublic: true, respond: livez },
  { method: 'GET', path: '/readyz', isPublic: true, respond: readyz },
  { method: 'GET', path: '/status', respond: status },
  { method: 'GET', path: '/routes', respond: routes },
  { method: 'GET', path: '/route', respond: route },
  { method: 'GET', path: '/manifest', respond: manifest },
  { method: 'GET', path: '/metrics', respond: metrics },
  { method: 'POST', path: '/explain', respond: explain },
  { method: 'POST', path: '/-/reload', respond: reload },
  { method: 'GET', path: '/candidate', respond: candidate },
  { method: 'PUT', path: '/-/candidate', respond: putCandidate },
  { method: 'DELETE', path: '/-/candidate', respond: discardCandidate },
  { method: 'GET', path: '/openapi.json', respond: openapi },
  { method: 'GET', path: '/traffic', respond: recentTraffic },
  { method: 'GET', path: '/history', respond: trafficHistory },
  { method: 'GET', path: '/decisions', respond: decisions },
  ...PAGE_ENDPOINTS,
];
