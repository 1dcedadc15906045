import type { Planned } from '../load.ts';
import type { Outcome } from '../offline/offline.ts';
import type { UpstreamRequest } from './explanation.ts';

/** What the upstream got, without what the environment gave to the manifest: that is shown as it is written there. */
export function upstreamRequestOf(loaded: Planned, { decision, received }: Outcome): UpstreamRequest | undefined {
  const { plan, manifest, secrets } = loaded;
  const index = plan.routes.findIndex(({ id }) => id === decision.route);
  const route = plan.routes[index];
  if (received === undefined || route === undefined) return undefined;
  const { upstream } = route;
  const targets = upstream.targets.map(({ url: { origin } }, at) => {
    const { url } = manifest.upstreams[upstream.id] ?? {};
    return secrets.shown(origin, ['upstreams', upstream.id, ...(url === undefined ? ['urls', at] : ['url'])]);
  });
  const chosen = upstream.targets.findIndex(({ url }) => url.origin === received.origin);
  return {
    id: upstream.id,
    method: received.method,
    url: targets[chosen] + shownPath(loaded, index, received.url),
    targets,
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

/** The path and query for the upstream, where a prefix of the path may come from the environment. */
function shownPath({ manifest, secrets }: Planned, index: number, url: string): string {
  const prefix = manifest.routes[index]?.upstreamPath?.with;
  if (prefix === undefined || !url.startsWith(prefix)) return url;
  return secrets.shown(prefix, ['routes', index, 'upstreamPath', 'with']) + url.slice(prefix.length);
}

const MADE = '<made for each request>';

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
