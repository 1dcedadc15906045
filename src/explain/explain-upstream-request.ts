import type { PlannedManifest } from '../load.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import { redactedUrl } from '../offline/redacted-url.ts';
import type { ExplainedUpstreamRequest } from './explanation.ts';

/** What the upstream got, without what the environment gave to the manifest: that is shown as it is written there. */
export function explainUpstreamRequest(
  loaded: PlannedManifest,
  { logEntry, upstreamRequest }: OfflineOutcome,
): ExplainedUpstreamRequest | undefined {
  const { plan, secrets } = loaded;
  const index = plan.routes.findIndex(({ id }) => id === logEntry.route);
  const route = plan.routes[index];
  if (upstreamRequest === undefined || route === undefined) return undefined;
  const { upstream } = route;
  const { origin, path } = redactedUrl(loaded, logEntry.route, upstreamRequest);
  return {
    id: upstream.id,
    method: upstreamRequest.method,
    url: origin + path,
    targets: upstream.endpoints.map(({ label }) => label),
    headers: pairs(upstreamRequest.headers).map(([name, value]) => {
      if (name === 'X-Request-Id' || name === 'traceparent') return [name, GENERATED];
      return [name, secrets.redactValue(value, ['routes', index, 'requestHeaders', 'set', name])];
    }),
    bodyBytes: upstreamRequest.body.length,
    timeoutsMs: {
      connect: upstream.connectTimeoutMs,
      response: route.timeoutMs === undefined ? upstream.responseTimeoutMs : null,
      idle: upstream.idleTimeoutMs,
      total: route.timeoutMs ?? upstream.totalTimeoutMs ?? null,
    },
  };
}

const GENERATED = '<made for each request>';

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
