import type { Planned } from '../load.ts';
import type { Outcome } from '../offline/offline.ts';
import { shownUrl } from '../offline/shown-url.ts';
import type { UpstreamRequest } from './explanation.ts';

/** What the upstream got, without what the environment gave to the manifest: that is shown as it is written there. */
export function upstreamRequestOf(loaded: Planned, { decision, received }: Outcome): UpstreamRequest | undefined {
  const { plan, secrets } = loaded;
  const index = plan.routes.findIndex(({ id }) => id === decision.route);
  const route = plan.routes[index];
  if (received === undefined || route === undefined) return undefined;
  const { upstream } = route;
  const { origin, path } = shownUrl(loaded, decision.route, received);
  return {
    id: upstream.id,
    method: received.method,
    url: origin + path,
    targets: upstream.targets.map(({ shown }) => shown),
    headers: pairs(received.headers).map(([name, value]) => {
      if (name === 'X-Request-Id' || name === 'traceparent') return [name, MADE];
      return [name, secrets.shown(value, ['routes', index, 'requestHeaders', 'set', name])];
    }),
    bodyBytes: received.body.length,
    timeoutsMs: {
      connect: upstream.connectTimeoutMs,
      response: route.timeoutMs === undefined ? upstream.responseTimeoutMs : null,
      idle: upstream.idleTimeoutMs,
      total: route.timeoutMs ?? upstream.totalTimeoutMs ?? null,
    },
  };
}

const MADE = '<made for each request>';

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
