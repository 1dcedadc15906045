import type { AdminEndpoint } from './call.ts';
import { decisions } from './decisions.ts';
import { explain } from './explain.ts';
import { livez, readyz } from './health.ts';
import { metrics } from './metrics.ts';
import { openapi } from './openapi.ts';
import { PAGE_ENDPOINTS } from './page.ts';
import { reload } from './reload.ts';
import { routes } from './routes.ts';
import { status } from './status.ts';
import { recentTraffic, trafficHistory } from './traffic-answers.ts';

/** All that the operators' side answers: one line an endpoint. */
export const ADMIN_ENDPOINTS: readonly AdminEndpoint[] = [
  // Whoever restarts containers has no token.
  { method: 'GET', path: '/livez', isPublic: true, respond: livez },
  { method: 'GET', path: '/readyz', isPublic: true, respond: readyz },
  { method: 'GET', path: '/status', respond: status },
  { method: 'GET', path: '/routes', respond: routes },
  { method: 'GET', path: '/metrics', respond: metrics },
  { method: 'POST', path: '/explain', respond: explain },
  { method: 'POST', path: '/-/reload', respond: reload },
  { method: 'GET', path: '/openapi.json', respond: openapi },
  { method: 'GET', path: '/traffic', respond: recentTraffic },
  { method: 'GET', path: '/history', respond: trafficHistory },
  { method: 'GET', path: '/decisions', respond: decisions },
  ...PAGE_ENDPOINTS,
];
