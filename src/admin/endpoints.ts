import type { Endpoint } from './call.ts';
import { decisions } from './decisions.ts';
import { explain } from './explain.ts';
import { livez, readyz } from './health.ts';
import { metrics } from './metrics.ts';
import { openapi } from './openapi.ts';
import { PAGE } from './page.ts';
import { reload } from './reload.ts';
import { routes } from './routes.ts';
import { status } from './status.ts';
import { lastHour, lately } from './traffic-answers.ts';

/** All that the operators' side answers: one line an endpoint. */
export const ENDPOINTS: readonly Endpoint[] = [
  // Whoever restarts containers has no token.
  { method: 'GET', path: '/livez', isOpen: true, answer: livez },
  { method: 'GET', path: '/readyz', isOpen: true, answer: readyz },
  { method: 'GET', path: '/status', answer: status },
  { method: 'GET', path: '/routes', answer: routes },
  { method: 'GET', path: '/metrics', answer: metrics },
  { method: 'POST', path: '/explain', answer: explain },
  { method: 'POST', path: '/-/reload', answer: reload },
  { method: 'GET', path: '/openapi.json', answer: openapi },
  { method: 'GET', path: '/traffic', answer: lately },
  { method: 'GET', path: '/history', answer: lastHour },
  { method: 'GET', path: '/decisions', answer: decisions },
  ...PAGE,
];
