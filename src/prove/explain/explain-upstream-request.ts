import type { PlannedManifest } from '../../engine/load.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import { redactedUrl } from '../offline/redacted-url.ts';
import type { ExplainedUpstreamRequest } from './explanation.ts';

/** Returns the request to the upstream, with references such as `${API_KEY}` instead of values from the environment. */
export function explainUpstreamRequest(
  planned: PlannedManifest,
  { record, upstreamRequest }: OfflineOutcome,
): ExplainedUpstreamRequest | undefined {
  const { plan, secrets } = planned;
  const index = plan.routes.findIndex(({ id }) => id === record.route?.id);
  const route = plan.routes[index];
  if (upstreamRequest === undefined || route === undefined) return undefined;
  const { upstream } = route;
  const { origin, path } = redactedUrl(planned, route.id, upstreamRequest);
  return {
    id: upstream.id,
    method: upstreamRequest.method,
    url: origin + path,
    endpoints: upstream.endpoints.map(({ label }) => label),
    headers: pairsOf(upstreamRequest.headers).map(([name, value]) => {
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

const GENERATED = '<generated for each request>';

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
