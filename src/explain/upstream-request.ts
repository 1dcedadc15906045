import type { Planned } from '../load.ts';
import type { Value } from '../manifest/values.ts';
import type { Outcome } from '../offline/offline.ts';
import type { Path } from '../problem/finding.ts';
import type { UpstreamRequest } from './explanation.ts';

/** What the upstream got, without what the environment gave to the manifest: that is shown as it is written there. */
export function upstreamRequestOf(loaded: Planned, { decision, received }: Outcome): UpstreamRequest | undefined {
  const { plan, manifest } = loaded;
  const index = plan.routes.findIndex(({ id }) => id === decision.route);
  const route = plan.routes[index];
  if (received === undefined || route === undefined) return undefined;
  const { upstream } = route;
  const targets = upstream.targets.map(({ url: { origin } }, at) => {
    const { url } = manifest.upstreams[upstream.id] ?? {};
    return shown(loaded, ['upstreams', upstream.id, ...(url === undefined ? ['urls', at] : ['url'])], origin);
  });
  const chosen = upstream.targets.findIndex(({ url }) => url.origin === received.origin);
  return {
    id: upstream.id,
    method: received.method,
    url: targets[chosen] + received.url,
    targets,
    headers: pairs(received.headers).map(([name, value]) => {
      if (name === 'X-Request-Id' || name === 'traceparent') return [name, MADE];
      return [name, shown(loaded, ['routes', index, 'requestHeaders', 'set', name], value)];
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

function shown({ isSecret, document }: Planned, path: Path, value: string): string {
  return isSecret(path) ? String(writtenAt(document.value, path)) : value;
}

function writtenAt(value: Value, path: Path): Value {
  let found = value;
  for (const step of path) found = (found as Readonly<Record<string | number, Value>>)[step] ?? null;
  return found;
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
